/** Settings that this browser remembers. Without storage they last until the page is closed. */

/** @type {Map<string, string | null>} */
const settings = new Map();

/** @param {string} name @returns {string | null} */
export function preference(name) {
  if (!settings.has(name)) settings.set(name, stored(name));
  return settings.get(name) ?? null;
}

/** @param {string} name */
function stored(name) {
  try {
    return localStorage.getItem(keyOf(name));
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} value */
export function setPreference(name, value) {
  settings.set(name, value);
  try {
    localStorage.setItem(keyOf(name), value);
  } catch {
    // The map keeps it until the page is closed.
  }
}

/** @param {string} name */
function keyOf(name) {
  return `transcript-receiver.${name}`;
}
