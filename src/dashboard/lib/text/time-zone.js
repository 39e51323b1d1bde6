import { preference, setPreference } from '../preference.js';

/** The zone of every time on the page: the reader's own, or UTC. */

export function isUtc() {
  return preference('zone') === 'UTC';
}

/** @param {boolean} value */
export function chooseUtc(value) {
  setPreference('zone', value ? 'UTC' : 'own');
}

/** For Intl and uPlot; undefined is the reader's own zone. */
export function timeZone() {
  return isUtc() ? 'UTC' : undefined;
}

/** "Europe/Berlin" or "UTC". */
export function zoneName() {
  return isUtc() ? 'UTC' : ownZone();
}

/** The browser's name of the reader's zone; every spelling of UTC is UTC. */
export function ownZone() {
  const { timeZone: name } = new Intl.DateTimeFormat().resolvedOptions();
  return /^(Etc\/)?(UTC|GMT|UCT|Zulu|Universal|Greenwich)$/.test(name) ? 'UTC' : name;
}
