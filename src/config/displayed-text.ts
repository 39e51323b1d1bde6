import { namesPlacesOnly } from './load/secret-reference.js';

/** Fault messages are copied into tickets: at most this many characters of a value. */
const LONGEST_SHOWN = 80;

/** Words of this length may be secrets. */
const SECRET_LENGTH = 16;

/** Numbers, sizes, dates and IPv4 ranges may be long without being secret. */
const FIGURES = /^[\d./:+-]+$/;

/**
 * A text of the configuration as a fault may show it; null when it could hold a misplaced secret. Hides the user part and
 * query of an address, and any other long run of characters.
 */
export function displayedText(text: string): string | null {
  if (text.includes('${')) return namesPlacesOnly(text) ? quoted(text) : null;
  // The user part of an address may hold a password.
  if (text.includes('@')) return null;
  if (URL.canParse(text) && /^[a-z0-9]{2,10}:\//.test(text)) return quoted(text.replace(/[?#].*$/s, '?…'));
  return isPlain(text) ? quoted(text) : null;
}

/** Whether no word of the text could be a secret or announces one. */
function isPlain(text: string): boolean {
  if (/^(?:bearer|basic) /i.test(text) || /^[\w-]+: /.test(text)) return false;
  return text.split(/[\s,]+/).every((word) => word.length < SECRET_LENGTH || FIGURES.test(word));
}

function quoted(text: string): string {
  const shown = JSON.stringify(text);
  return shown.length > LONGEST_SHOWN ? `${shown.slice(0, LONGEST_SHOWN)}…` : shown;
}
