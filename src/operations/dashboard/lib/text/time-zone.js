/** The time zone of the page: the browser's own, or UTC. The browser remembers it; without storage, until the page is closed. */

const KEY = 'transcript-receiver.zone';
let zone = storedZone();

function storedZone() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function isUtc() {
  return zone === 'UTC';
}

/** @param {boolean} value */
export function chooseUtc(value) {
  zone = value ? 'UTC' : 'own';
  try {
    localStorage.setItem(KEY, zone);
  } catch {
    // The variable keeps it until the page is closed.
  }
}

/** For Intl and uPlot; undefined is the browser's own zone. */
export function timeZone() {
  return isUtc() ? 'UTC' : undefined;
}

/** "Europe/Berlin" or "UTC". */
export function zoneName() {
  return isUtc() ? 'UTC' : ownZone();
}

/** The browser's own zone; every spelling of UTC becomes UTC. */
export function ownZone() {
  const { timeZone: name } = new Intl.DateTimeFormat().resolvedOptions();
  return /^(Etc\/)?(UTC|GMT|UCT|Zulu|Universal|Greenwich)$/.test(name) ? 'UTC' : name;
}
