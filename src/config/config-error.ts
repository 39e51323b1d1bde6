import { namesPlacesOnly } from './load/secret-reference.js';

/** Path of a setting from the root: names of sections and entries, positions in lists. */
export type SettingPath = readonly (string | number)[];

/** One thing wrong with the configuration. */
export interface ConfigFault {
  readonly path: SettingPath;
  /** Description of the value that was found; null when there is none, or when it could be a secret. */
  readonly found: string | null;
  /** Description of the value that is expected. */
  readonly expected: string;
}

/** The configuration is invalid. Names every fault at once and never shows a secret. */
export class ConfigError extends Error {
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`;
    super(`The configuration has ${count}:\n${faults.map((fault) => `  ${renderFault(fault)}`).join('\n')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

export function renderFault(fault: ConfigFault): string {
  const found = fault.found === null ? '' : `found ${fault.found}, `;
  const where = fault.path.length === 0 ? '' : `${renderPath(fault.path)}: `;
  return `${where}${found}expected ${fault.expected}`;
}

/** `sources.default.allow[2]`; names with other characters are quoted. */
export function renderPath(path: SettingPath): string {
  return path
    .map((segment, index) => {
      if (typeof segment === 'number') return `[${segment}]`;
      if (isSecretPlace(path.slice(0, index)) && !NAME_BESIDE_SECRET.test(segment)) return '[…]';
      if (!/^[A-Za-z0-9_-]+$/.test(segment)) return `[${JSON.stringify(segment)}]`;
      return index === 0 ? segment : `.${segment}`;
    })
    .join('');
}

/** Settings whose values are never shown, not even values put there by mistake. */
const SECRET_PLACES: readonly (readonly string[])[] = [
  ['admin', 'tokens'],
  ['store', 's3', 'accessKeyId'],
  ['store', 's3', 'secretAccessKey'],
  ['speech', 'apiKey'],
  ['sources', '*', 'credentials'],
  ['subscribers', '*', 'url'],
  ['subscribers', '*', 'secrets'],
];

/** Settings beside a secret. */
const SHOWN_PLACES: readonly (readonly string[])[] = [
  ['admin', 'tokens', '*', 'may'],
  ['admin', 'tokens', '*', 'sources'],
  ['sources', '*', 'credentials', '*', 'notBefore'],
  ['sources', '*', 'credentials', '*', 'expires'],
];

/** Other names below secret places may be the secret itself, when an operator swapped name and value. */
const NAME_BESIDE_SECRET = /^[A-Za-z0-9_-]{1,32}$/;

/** Describes the value at `path` as the operator wrote it, before secrets were resolved. */
export function describeFound(written: unknown, path: SettingPath): string | null {
  if (isSecretPlace(path)) return null;
  const value = valueAt(written, path);
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'object') {
    const kind = Array.isArray(value) ? 'list' : 'map';
    return Object.keys(value).length === 0 ? `an empty ${kind}` : `a ${kind}`;
  }
  return typeof value === 'string' ? displayedText(value) : JSON.stringify(value);
}

function isSecretPlace(path: SettingPath): boolean {
  return isBelow(path, SECRET_PLACES) && !isBelow(path, SHOWN_PLACES);
}

function isBelow(path: SettingPath, places: typeof SECRET_PLACES): boolean {
  return places.some((place) => place.every((name, index) => name === '*' || path[index] === name));
}

function valueAt(tree: unknown, path: SettingPath): unknown {
  let value = tree;
  for (const segment of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Record<string | number, unknown>)[segment];
  }
  return value;
}

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
function displayedText(text: string): string | null {
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
