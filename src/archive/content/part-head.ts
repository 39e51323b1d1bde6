/** The parsed header block of a part. */
export interface PartHead {
  readonly name: string | null;
  readonly fileName?: string;
  /** As sent. */
  readonly contentType?: string;
  /** Absent for identity encodings (7bit, 8bit, binary). It is not decoded: the bytes stay as sent. */
  readonly transferEncoding?: string;
}

/**
 * A parameter of a field that busboy rejects because of another, malformed parameter. Returns its value without quotes, with escapes
 * unchanged; undefined when the parameter is missing or malformed.
 */
export function looseParameter(field: string, name: string): string | undefined {
  for (const [, found = '', quoted, token] of field.matchAll(PARAMETER)) {
    if (found.toLowerCase() === name) return quoted ?? token;
  }
  return undefined;
}

/** One parameter and everything up to the next semicolon, so that quoted text is never read as another parameter. */
const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"\\]+))?[^;]*/g;

/** The first value of a field in a header block, folded lines joined; `name` in lower case. */
export function headerField(block: string, name: string): string | undefined {
  for (const line of block.replace(/\r\n(?=[ \t])/g, '').split('\r\n')) {
    const colon = line.indexOf(':');
    if (line.slice(0, colon).toLowerCase() === name) return line.slice(colon + 1).trim();
  }
  return undefined;
}
