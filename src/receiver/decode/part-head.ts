/** What the header block of a part says about it. */
export interface PartHead {
  readonly name: string | null;
  readonly fileName?: string;
  /** As sent. */
  readonly contentType?: string;
  /** Only where it is not one of the identities 7bit, 8bit and binary; nobody decodes it, the bytes stay as sent. */
  readonly transferEncoding?: string;
}

/** The first value of a field in a part's header block, folded lines joined; `name` in lower case. */
export function headerField(block: string, name: string): string | undefined {
  for (const line of block.replace(/\r\n(?=[ \t])/g, '').split('\r\n')) {
    const colon = line.indexOf(':');
    if (line.slice(0, colon).toLowerCase() === name) return line.slice(colon + 1).trim();
  }
  return undefined;
}
