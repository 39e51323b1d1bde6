/** What the header block of a part says about it. */
export interface PartHead {
  readonly name: string | null;
  readonly fileName?: string;
  /** As sent. */
  readonly contentType?: string;
  /** Only where it is not one of the identities 7bit, 8bit and binary; nobody decodes it, the bytes stay as sent. */
  readonly transferEncoding?: string;
}

/**
 * A parameter of a field that busboy will not read because another one is broken: what stands behind its name, quotes
 * taken off, escapes left as they are. Undefined when it is not there or itself broken.
 */
export function looseParameter(field: string, name: string): string | undefined {
  for (const [, found = '', quoted, token] of field.matchAll(PARAMETER)) {
    if (found.toLowerCase() === name) return quoted ?? token;
  }
  return undefined;
}

/** One parameter with what follows it up to the next semicolon, so that nothing inside quotes passes for another. */
const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"\\]+))?[^;]*/g;

/** The first value of a field in a part's header block, folded lines joined; `name` in lower case. */
export function headerField(block: string, name: string): string | undefined {
  for (const line of block.replace(/\r\n(?=[ \t])/g, '').split('\r\n')) {
    const colon = line.indexOf(':');
    if (line.slice(0, colon).toLowerCase() === name) return line.slice(colon + 1).trim();
  }
  return undefined;
}
