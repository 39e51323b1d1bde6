import { UndecodableError } from '../../content/decode-error.js';
import { DamagedDelimiterDetector } from './damaged-delimiter.js';

/** The pieces of a multipart body, in order: each part is one `head`, any number of `data`, one `end`. */
export type MultipartToken =
  | { readonly type: 'head'; readonly block: Buffer }
  | { readonly type: 'data'; readonly bytes: Buffer }
  | { readonly type: 'end' };

/** The limit of busboy and Node. */
export const MAX_HEAD_BYTES = 16 * 1024;
/** Names and types are kept until the form is complete, outside the byte budget. */
export const MAX_HEADS_BYTES = 128 * 1024;
/** Spaces and tabs tolerated between a boundary and its line end. */
const MAX_PADDING = 1024;

const CRLF = Buffer.from('\r\n');
const BLANK_LINE = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);
const DASH = 0x2d;

type Place = 'preamble' | 'head' | 'content' | 'epilogue';

/** What a found boundary turned out to be; `undecided` until more bytes arrive. */
type Candidate = { kind: 'delimiter' | 'closing'; end: number } | { kind: 'content' } | { kind: 'undecided' };

/**
 * Finds the delimiters of a multipart body (RFC 2046, 5.1.1) under any chunking, independently of busboy.
 *
 * A delimiter is a complete line: the boundary, `--` on the last one, padding, line end. Any other line is content, as in
 * Go's reader, so that content is never cut at a line that only begins like a delimiter. A part is never lost silently: a
 * preamble or epilogue of more than white space, and content with a damaged delimiter, make the body undecodable.
 */
export class DelimiterScanner {
  readonly #needle: Buffer;
  readonly #maxParts: number;
  #place: Place = 'preamble';
  /** Bytes of earlier chunks that may belong to a delimiter. A body's first line needs no line end before it. */
  #held: Buffer = CRLF;
  /** How many bytes at the beginning of the scanned data belong to what came before. */
  #skip = CRLF.length;
  #parts = 0;
  #head = NOTHING;
  /** Bytes of all header blocks so far. */
  #headsBytes = 0;
  readonly #detector: DamagedDelimiterDetector;

  constructor(boundary: string, maxParts: number) {
    this.#detector = new DamagedDelimiterDetector(boundary);
    this.#needle = Buffer.from(`\r\n--${boundary}`, 'latin1');
    this.#maxParts = maxParts;
  }

  /** The tokens that the next bytes complete, found lazily. Throws UndecodableError. */
  *push(chunk: Buffer): Generator<MultipartToken> {
    let data = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = NOTHING;
    while (data.length > 0) {
      if (this.#place === 'head') data = yield* this.#takeHead(data);
      else if (this.#place === 'epilogue') data = this.#setAside(data);
      else data = yield* this.#takeContent(data);
    }
  }

  /** Must be called after the last byte. */
  *finish(): Generator<MultipartToken> {
    const rest = this.#held;
    if ((this.#place === 'preamble' || this.#place === 'content') && this.#isClosingAtEnd(rest)) {
      if (this.#place === 'content') yield this.#endPart();
      return;
    }
    if (this.#place !== 'epilogue') {
      throw new UndecodableError('multipart-unterminated', 'The closing delimiter is missing.');
    }
  }

  *#takeContent(data: Buffer): Generator<MultipartToken, Buffer> {
    let from = 0;
    for (;;) {
      const found = data.indexOf(this.#needle, from);
      if (found === -1) {
        yield* this.#hold(data, this.#possibleStart(data, from));
        return NOTHING;
      }
      const candidate = this.#classify(data, found + this.#needle.length);
      if (candidate.kind === 'undecided') {
        yield* this.#hold(data, found);
        return NOTHING;
      }
      if (candidate.kind !== 'content') {
        yield* this.#emit(data, found);
        yield* this.#delimit(candidate.kind);
        return data.subarray(candidate.end);
      }
      from = found + this.#needle.length;
    }
  }

  *#delimit(kind: 'delimiter' | 'closing'): Generator<MultipartToken> {
    if (this.#place === 'content') yield this.#endPart();
    this.#place = kind === 'closing' ? 'epilogue' : 'head';
    this.#skip = 0;
    if (kind === 'closing') return;
    if (++this.#parts > this.#maxParts) {
      throw new UndecodableError('too-many-parts', `There are more than ${this.#maxParts} parts.`);
    }
    // The delimiter's own line end, so that an empty header block is found like any other.
    this.#head = CRLF;
  }

  /** Collects the header block; returns what follows it, beginning with the end of the blank line. */
  *#takeHead(data: Buffer): Generator<MultipartToken, Buffer> {
    const before = this.#head.length;
    const room = CRLF.length + MAX_HEAD_BYTES + CRLF.length;
    const all = Buffer.concat([this.#head, data.subarray(0, room - before)]);
    const end = all.indexOf(BLANK_LINE, Math.max(0, before - BLANK_LINE.length + 1));
    if (end === -1) {
      if (all.length >= room) throw new UndecodableError('multipart-header', 'A part header is too long.');
      this.#head = all;
      return NOTHING;
    }
    const block = all.subarray(CRLF.length, end + CRLF.length);
    this.#headsBytes += block.length;
    if (this.#headsBytes > MAX_HEADS_BYTES) {
      throw new UndecodableError('multipart-header', 'The part headers are too long together.');
    }
    if (all.subarray(0, end + BLANK_LINE.length).includes(this.#needle)) {
      throw new UndecodableError('multipart-header', 'A delimiter stands inside a part header.');
    }
    this.#head = NOTHING;
    this.#place = 'content';
    this.#detector.begin();
    // Without content the blank line's end is also the beginning of the next delimiter.
    this.#skip = CRLF.length;
    yield { type: 'head', block };
    const start = end + BLANK_LINE.length - before;
    if (start >= CRLF.length) return data.subarray(start - CRLF.length);
    return Buffer.concat([CRLF, data.subarray(start)]);
  }

  /** Where an incomplete delimiter may begin; the end of `data` when nowhere. */
  #possibleStart(data: Buffer, from: number): number {
    const first = Math.max(from, data.length - this.#needle.length + 1);
    for (let at = data.length - 1; at >= first; at--) {
      // A boundary holds no CR, so only the last one can begin a delimiter.
      if (data[at] !== 0x0d) continue;
      const tail = data.subarray(at);
      return tail.equals(this.#needle.subarray(0, tail.length)) ? at : data.length;
    }
    return data.length;
  }

  #classify(data: Buffer, after: number): Candidate {
    let at = after;
    if (data[at] === DASH) {
      if (at + 1 === data.length) return { kind: 'undecided' };
      if (data[at + 1] !== DASH) return { kind: 'content' };
      at += 2;
    }
    const kind = at === after ? 'delimiter' : 'closing';
    const most = at + MAX_PADDING;
    while (at < most && (data[at] === 0x20 || data[at] === 0x09)) at++;
    if (at === data.length || (data[at] === 0x0d && at + 1 === data.length)) return { kind: 'undecided' };
    return data[at] === 0x0d && data[at + 1] === 0x0a ? { kind, end: at + 2 } : { kind: 'content' };
  }

  #isClosingAtEnd(rest: Buffer): boolean {
    if (!rest.subarray(0, this.#needle.length).equals(this.#needle)) return false;
    return /^--[ \t]*$/.test(rest.toString('latin1', this.#needle.length));
  }

  *#hold(data: Buffer, start: number): Generator<MultipartToken> {
    yield* this.#emit(data, start);
    this.#skip = start === 0 ? this.#skip : 0;
    // A copy, so that a few bytes do not keep a whole chunk alive.
    this.#held = start === data.length ? NOTHING : Buffer.from(data.subarray(start));
  }

  *#emit(data: Buffer, end: number): Generator<MultipartToken> {
    if (end <= this.#skip) return;
    const bytes = data.subarray(this.#skip, end);
    if (this.#place !== 'content') return void this.#setAside(bytes);
    if (this.#detector.push(bytes)) this.#damaged();
    yield { type: 'data', bytes };
  }

  #endPart(): MultipartToken {
    if (this.#detector.end()) this.#damaged();
    return { type: 'end' };
  }

  /** Accepts white space around the parts, and nothing else. */
  #setAside(bytes: Buffer): Buffer {
    for (const byte of bytes) {
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) continue;
      throw new UndecodableError('multipart-unaccounted', 'There is content outside the parts.');
    }
    return NOTHING;
  }

  #damaged(): never {
    throw new UndecodableError('multipart-unaccounted', 'A part contains a damaged delimiter.');
  }
}
