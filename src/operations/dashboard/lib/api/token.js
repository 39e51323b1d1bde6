/** The bearer token of this tab, in session storage: discarded with the tab, and never in the address. */

const KEY = 'transcript-receiver.token';

export function token() {
  return sessionStorage.getItem(KEY);
}

/** @param {string} value */
export function keepToken(value) {
  sessionStorage.setItem(KEY, value);
}

export function forgetToken() {
  sessionStorage.removeItem(KEY);
}

/** Moves the token of the start link `/#token=…` to the storage, so that it stays in no history. */
export function takeTokenFromAddress() {
  const found = /^#token=([^&]+)/.exec(location.hash);
  if (found === null) return false;
  history.replaceState(null, '', `${location.pathname}#/`);
  keepToken(decoded(found[1] ?? ''));
  return true;
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
