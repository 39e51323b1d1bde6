/** Choices that stay in this browser. A browser that stores nothing keeps them as long as the page is open. */

/** @type {Map<string, string | null>} */
const chosen = new Map();

/** @param {string} name @returns {string | null} */
export function preference(name) {
  if (!chosen.has(name)) chosen.set(name, stored(name));
  return chosen.get(name) ?? null;
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
  chosen.set(name, value);
  try {
    localStorage.setItem(keyOf(name), value);
  } catch {
    // The map has it.
  }
}

/** @param {string} name */
function keyOf(name) {
  return `transcript-receiver.${name}`;
}
