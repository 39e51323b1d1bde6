import { preference, setPreference } from '../preference.js';

/** The time zone of the page: the browser's own, or UTC. */

export function isUtc() {
  return preference('zone') === 'UTC';
}

/** @param {boolean} value */
export function chooseUtc(value) {
  setPreference('zone', value ? 'UTC' : 'own');
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
