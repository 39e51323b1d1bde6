/** Room for the dashes, white space and line ends of a damaged delimiter, and for the name of a header behind it. */
const LOOK_AHEAD = 128;
const MAX_FILLING = 64;
const WINDOW_BYTES = 8192;
const PART_HEADER = /^content-[a-z-]{1,32}[ \t]*:/i;
const LINE_END = Buffer.from('\n');

/**
 * Watches the content of a part for a delimiter that was damaged on its way, so that the next part would be taken for
 * content of this one: the boundary behind a dash or a line end, then at most dashes and white space, then a header of
 * a part. So it finds `---b`, `\n--b`, a delimiter without a line end before or behind it. By the letter of RFC 2046 such
 * lines are content; nobody who picks a boundary that the content does not hold sends them.
 *
 * It looks at a window of its own, so that content which comes byte by byte costs no more than any other.
 */
export class DamagedDelimiterDetector {
  readonly #boundary: Buffer;
  readonly #window: Buffer;
  /** Bytes that the next look has to see again. */
  readonly #overlap: number;
  #filled = 0;

  constructor(boundary: string) {
    this.#boundary = Buffer.from(boundary, 'latin1');
    this.#overlap = 1 + this.#boundary.length + LOOK_AHEAD;
    this.#window = Buffer.allocUnsafe(WINDOW_BYTES);
  }

  /** To be called before the first byte of a part's content, which begins a line. */
  begin(): void {
    this.#filled = LINE_END.copy(this.#window);
  }

  /** Whether a damaged delimiter was seen. It may be found later than it came, but not after `end`. */
  push(bytes: Buffer): boolean {
    for (let rest = bytes; rest.length > 0; ) {
      const taken = rest.copy(this.#window, this.#filled);
      this.#filled += taken;
      rest = rest.subarray(taken);
      if (this.#filled < WINDOW_BYTES) return false;
      if (this.end()) return true;
      this.#filled = this.#window.copy(this.#window, 0, WINDOW_BYTES - this.#overlap);
    }
    return false;
  }

  /** Looks at what has not been looked at yet; to be called after the last byte of the content. */
  end(): boolean {
    return this.#holdsOne(this.#window.subarray(0, this.#filled));
  }

  #holdsOne(bytes: Buffer): boolean {
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
    const most = after + MAX_FILLING;
    while (at < most && (isLineEndOrDash(bytes[at]) || bytes[at] === 0x20 || bytes[at] === 0x09)) at++;
    // The regular expression decides; this keeps content full of boundaries from costing a string for each.
    if (((bytes[at] ?? 0) | 0x20) !== 0x63) return false;
    return PART_HEADER.test(bytes.toString('latin1', at, after + LOOK_AHEAD));
  }
}

function isLineEndOrDash(byte: number | undefined): boolean {
  return byte === 0x2d || byte === 0x0a || byte === 0x0d;
}
