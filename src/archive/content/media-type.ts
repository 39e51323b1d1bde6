import { textKindOfType } from '../../domain/kinds.js';

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
 * A sender's content type as the ledger records it: a known type without parameters, else `other`. Any other text could be a person's
 * name, and ledger lines stay when a job is erased.
 */
export function recordedType(header: string): string {
  const { essence } = parseMediaType(header);
  return KNOWN_TYPES.has(essence) || textKindOfType(essence) !== null ? essence : 'other';
}

/** Media types that the ledger records, by their first half: registered types, and the usual names of unregistered ones. */
const KNOWN: Readonly<Record<string, string>> = {
  application: [
    'json xml pdf zip gzip x-gzip x-tar octet-stream x-www-form-urlencoded ndjson x-ndjson yaml rtf ogg mxf',
    'ld+json problem+json vnd.api+json ttml+xml msword vnd.ms-excel vnd.ms-powerpoint',
    'vnd.openxmlformats-officedocument.wordprocessingml.document',
    'vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ].join(' '),
  audio: [
    '3gpp 3gpp2 aac ac3 aiff amr amr-wb basic flac l16 l24 m4a matroska mp3 mp4 mpeg mpeg3 ogg opus pcma pcmu vorbis wav wave',
    'webm vnd.wave x-aac x-aiff x-caf x-flac x-gsm x-m4a x-matroska x-mpeg x-ms-wma x-pn-wav x-wav',
  ].join(' '),
  image: 'bmp gif jpeg png svg+xml tiff webp',
  multipart: 'alternative byteranges digest encrypted form-data mixed parallel related report signed',
  text: 'csv html json markdown plain rtf tab-separated-values vtt xml',
  video: [
    '3gpp 3gpp2 avi matroska mp2t mp4 mpeg ogg quicktime webm',
    'x-flv x-m4v x-matroska x-ms-asf x-ms-wmv x-msvideo',
  ].join(' '),
};

const KNOWN_TYPES = new Set(
  Object.entries(KNOWN).flatMap(([type, subtypes]) =>
    subtypes.split(' ').map((subtype) => `${type}/${subtype}`),
  ),
);

/**
 * The boundary of a multipart type; null when there is no usable one. RFC 2046 allows 1 to 70 characters, of which the
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
