/** A leniently parsed Content-Type: what cannot be parsed is left out. */
export interface MediaType {
  /** `type/subtype` in lower case; empty when missing. */
  readonly essence: string;
  /** Parameters in order, names in lower case, values unquoted. */
  readonly params: readonly (readonly [name: string, value: string])[];
}

const PARAMETER = /;[ \t]*([^=;\s"]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;"]*))/g;
const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]{1,80}";
const SAFE_ESSENCE = new RegExp(`^${TOKEN}/${TOKEN}$`);
const BOUNDARY = /^[\x20-\x7e]{0,69}[\x21-\x7e]$/;
const SAFE_CHARSET = /^[A-Za-z0-9._:+-]{1,40}$/;

/** Parses a header value; blanks around `=` are tolerated. Quoted values lose quotes and backslashes; unquoted ones end at the next `;`. */
export function parseMediaType(header: string | null): MediaType {
  const value = header ?? '';
  const end = value.indexOf(';');
  const essence = (end === -1 ? value : value.slice(0, end)).trim().toLowerCase();
  if (end === -1) return { essence, params: [] };
  const params: [string, string][] = [];
  PARAMETER.lastIndex = end;
  for (let found = PARAMETER.exec(value); found !== null; found = PARAMETER.exec(value)) {
    const [, name = '', quoted, plain = ''] = found;
    params.push([name.toLowerCase(), quoted === undefined ? plain.trim() : quoted.replace(/\\(.)/g, '$1')]);
  }
  return { essence, params };
}

/** `application/json` and every `+json`. */
export function isJson(type: MediaType): boolean {
  return type.essence === 'application/json' || /^[^/]+\/[^/]+\+json$/.test(type.essence);
}

/** The sender's type as it can be stored: a valid media type, with no parameter but its charset. */
export function storableType(header: string | null): string {
  const { essence, params } = parseMediaType(header);
  if (!SAFE_ESSENCE.test(essence)) return 'application/octet-stream';
  const charset = params.find(([name]) => name === 'charset')?.[1];
  return charset !== undefined && SAFE_CHARSET.test(charset) ? `${essence}; charset=${charset}` : essence;
}

/**
 * The boundary of a multipart type; null when there is no usable one. RFC 2046 allows 1 to 70 characters, and the
 * last is not a space. Special characters are accepted without quotes.
 */
export function boundaryOf(type: MediaType): string | null {
  let boundary: string | null = null;
  for (const [name, value] of type.params) {
    if (name !== 'boundary') continue;
    if (boundary !== null && boundary !== value) return null;
    boundary = value;
  }
  return boundary !== null && BOUNDARY.test(boundary) ? boundary : null;
}
