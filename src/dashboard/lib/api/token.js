/** The bearer token of this tab: gone when the tab is closed, never in the address. */

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

/** Takes the token out of the start link `/#token=…`, so that it stays in no history. Tells whether one was there. */
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
