/** Bytes for the dashes, white space and line ends of a damaged delimiter, and for the header name after it. */
const LOOK_AHEAD = 128;
const MAX_PADDING = 64;
const PART_HEADER = /^content-[a-z-]{1,32}[ \t]*:/i;
const LINE_END = 0x0a;

/**
 * Finds a delimiter in the content of a part that was damaged in transit, so that the next part would become content of
 * this one: the boundary after a dash or a line end, then only dashes and white space, then a part header. Examples are
 * `---b`, `\n--b`, and a delimiter without a line end before or after it. By RFC 2046 such lines are content, but a sender
 * that picks a boundary absent from the content never sends them.
 *
 * Large chunks are scanned in place. Their edges and small chunks are copied to a window, so that content that arrives
 * byte by byte costs no more than any other.
 */
export class DamagedDelimiterDetector {
  readonly #boundary: Buffer;
  readonly #window: Buffer;
  /** Bytes at the end of the window that are scanned again with the next one. */
  readonly #overlap: number;
  #filled = 0;

  constructor(boundary: string) {
    this.#boundary = Buffer.from(boundary, 'latin1');
    this.#overlap = 1 + this.#boundary.length + LOOK_AHEAD;
    this.#window = Buffer.allocUnsafe(4 * this.#overlap);
  }

  /** Call it before the first byte of a part's content, which begins a line. */
  begin(): void {
    this.#window[0] = LINE_END;
    this.#filled = 1;
  }

  /** Whether a damaged delimiter was found, in these bytes or in earlier ones; at the latest `end` finds it. */
  push(bytes: Buffer): boolean {
    if (bytes.length <= this.#window.length) return this.#pushThrough(bytes);
    const found =
      this.#pushThrough(bytes.subarray(0, this.#overlap)) || this.end() || this.#hasDamagedDelimiter(bytes);
    this.#filled = bytes.copy(this.#window, 0, bytes.length - this.#overlap);
    return found;
  }

  #pushThrough(bytes: Buffer): boolean {
    for (let rest = bytes; rest.length > 0; ) {
      const taken = rest.copy(this.#window, this.#filled);
      this.#filled += taken;
      rest = rest.subarray(taken);
      if (this.#filled < this.#window.length) return false;
      if (this.end()) return true;
      this.#filled = this.#window.copy(this.#window, 0, this.#filled - this.#overlap);
    }
    return false;
  }

  /** Scans the rest. Call it after the last byte of the content. */
  end(): boolean {
    return this.#hasDamagedDelimiter(this.#window.subarray(0, this.#filled));
  }

  #hasDamagedDelimiter(bytes: Buffer): boolean {
    let at = bytes.indexOf(this.#boundary);
    for (; at !== -1; at = bytes.indexOf(this.#boundary, at + 1)) {
      if (at > 0 && isLineEndOrDash(bytes[at - 1]) && this.#isHeader(bytes, at + this.#boundary.length)) {
        return true;
      }
    }
    return false;
  }

  #isHeader(bytes: Buffer, after: number): boolean {
    let at = after;
    const limit = after + MAX_PADDING;
    while (at < limit && (isLineEndOrDash(bytes[at]) || bytes[at] === 0x20 || bytes[at] === 0x09)) at++;
    // Checks the first letter, so that content full of boundaries does not cost a string for each.
    if (((bytes[at] ?? 0) | 0x20) !== 0x63) return false;
    return PART_HEADER.test(bytes.toString('latin1', at, after + LOOK_AHEAD));
  }
}

function isLineEndOrDash(byte: number | undefined): boolean {
  return byte === 0x2d || byte === 0x0a || byte === 0x0d;
}
