/** The zone of every time on the page: the reader's own, or UTC. The choice stays in this browser. */

const KEY = 'transcript-receiver.zone';
let utc = false;

/** Takes up what was chosen earlier. A browser that keeps nothing starts with the reader's own zone. */
export function restoreZone() {
  try {
    utc = localStorage.getItem(KEY) === 'UTC';
  } catch {
    utc = false;
  }
}

export function isUtc() {
  return utc;
}

/** @param {boolean} value */
export function chooseUtc(value) {
  utc = value;
  try {
    localStorage.setItem(KEY, value ? 'UTC' : 'own');
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

/** For Intl and uPlot; undefined is the reader's own zone. */
export function timeZone() {
  return utc ? 'UTC' : undefined;
}

/** "Europe/Berlin" or "UTC". */
export function zoneName() {
  return utc ? 'UTC' : ownZone();
}

/** The browser's name of the reader's zone; every spelling of UTC is UTC. */
export function ownZone() {
  const { timeZone: name } = new Intl.DateTimeFormat().resolvedOptions();
  return /^(Etc\/)?(UTC|GMT|UCT|Zulu|Universal|Greenwich)$/.test(name) ? 'UTC' : name;
}
