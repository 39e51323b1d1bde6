import { UndecodableError } from '../../archive/content/decode-error.js';
import { DamagedDelimiterDetector } from './damaged-delimiter.js';

/** The tokens of a multipart body, in order: each part is one `head`, any number of `data`, one `end`. */
export type MultipartToken =
  | { readonly type: 'head'; readonly block: Buffer }
  | { readonly type: 'data'; readonly bytes: Buffer }
  | { readonly type: 'end' };

/** The limit of busboy and Node. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Limit of all blocks together, because names and types are kept until the form is complete, outside the byte budget. */
const MAX_HEADS_BYTES = 128 * 1024;
/** White space tolerated between a boundary and its line end, or between the last boundary and the end of the body. */
const MAX_PADDING = 1024;

const CRLF = Buffer.from('\r\n');
const BLANK_LINE = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);
const DASH = 0x2d;
const END: MultipartToken = { type: 'end' };

type Section = 'preamble' | 'head' | 'content' | 'epilogue';

/** Classification of a found boundary; `undecided` until more bytes arrive. */
type Candidate = { kind: Delimiter; end: number } | { kind: 'content' } | { kind: 'undecided' };
type Delimiter = 'delimiter' | 'closing';

/** A callback has at most six parts today. */
const MAX_PARTS = 100;

/**
 * Finds the delimiters of a multipart body (RFC 2046, 5.1.1) under any chunking, independently of busboy.
 *
 * A delimiter is a complete line: the boundary, `--` on the last one, padding, line end. The last one may also be followed by a
 * little white space of any kind and the end of the body. Any other line is content, as in Go's reader, so that content is never
 * cut at a line that only begins like a delimiter. A part is never lost silently: a preamble or epilogue with more than white space,
 * and content with a damaged delimiter, make the body undecodable.
 */
export class DelimiterScanner {
  readonly #needle: Buffer;
  readonly #detector: DamagedDelimiterDetector;
  #section: Section = 'preamble';
  #data: Buffer = NOTHING;
  /** The delimiter before `#data`; the content before it has been returned. */
  #delimiter: Delimiter | null = null;
  /** Bytes of earlier chunks that may belong to a delimiter. Begins with a line end, because the first delimiter needs none. */
  #held: Buffer = CRLF;
  /** Number of bytes at the beginning of the scanned data that belong to the previous token. */
  #skip = CRLF.length;
  #parts = 0;
  /** The beginning of an incomplete header block, with the line end before it. */
  #head: Buffer = NOTHING;
  /** Bytes of all header blocks so far. */
  #headsBytes = 0;

  constructor(boundary: string) {
    this.#detector = new DamagedDelimiterDetector(boundary);
    this.#needle = Buffer.from(`\r\n--${boundary}`, 'latin1');
  }

  /** Call it with the next bytes when `next` has returned null. */
  push(chunk: Buffer): void {
    this.#data = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = NOTHING;
  }

  /** Call it after the last byte, when `next` has returned null; then `next` may return more tokens. Throws UndecodableError. */
  finish(): void {
    // `#classify` holds back a closing delimiter only while nothing but white space follows it.
    if (this.#held.toString('latin1').startsWith(`${this.#needle.toString('latin1')}--`)) {
      this.#delimiter = 'closing';
    } else if (this.#section !== 'epilogue') {
      throw new UndecodableError('multipart-unterminated', 'The closing delimiter is missing.');
    }
  }

  /** The next token; null when more bytes are needed. Throws UndecodableError. */
  next(): MultipartToken | null {
    let token: MultipartToken | null = null;
    while (token === null && (this.#delimiter !== null || this.#data.length > 0)) token = this.#step();
    return token;
  }

  #step(): MultipartToken | null {
    if (this.#delimiter !== null) return this.#passDelimiter(this.#delimiter);
    const data = this.#data;
    this.#data = NOTHING;
    if (this.#section === 'head') return this.#takeHead(data);
    return this.#section === 'epilogue' ? this.#skipWhiteSpace(data) : this.#takeContent(data);
  }

  #takeContent(data: Buffer): MultipartToken | null {
    let from = 0;
    for (;;) {
      const at = data.indexOf(this.#needle, from);
      if (at === -1) return this.#hold(data, this.#possibleStart(data, from));
      const candidate = this.#classify(data, at + this.#needle.length);
      if (candidate.kind === 'undecided') return this.#hold(data, at);
      if (candidate.kind !== 'content') {
        this.#noteDelimiter(data, candidate);
        return this.#content(data, at);
      }
      from = at + this.#needle.length;
    }
  }

  /** Leaves the data from the delimiter's line end on, so that an empty header block is found like any other. */
  #noteDelimiter(data: Buffer, { kind, end }: { kind: Delimiter; end: number }): void {
    this.#delimiter = kind;
    this.#data = data.subarray(end - CRLF.length);
  }

  #passDelimiter(delimiter: Delimiter): MultipartToken | null {
    const ended = this.#section === 'content' ? this.#endPart() : null;
    this.#delimiter = null;
    this.#section = delimiter === 'closing' ? 'epilogue' : 'head';
    this.#skip = 0;
    if (delimiter === 'delimiter' && ++this.#parts > MAX_PARTS) {
      throw new UndecodableError('too-many-parts', `There are more than ${MAX_PARTS} parts.`);
    }
    return ended;
  }

  /** Collects the header block, and leaves the data from the end of its blank line on. */
  #takeHead(data: Buffer): MultipartToken | null {
    const before = this.#head.length;
    const room = CRLF.length + MAX_HEAD_BYTES + CRLF.length;
    const more = data.subarray(0, room - before);
    const all = before === 0 ? more : Buffer.concat([this.#head, more]);
    const end = all.indexOf(BLANK_LINE, Math.max(0, before - BLANK_LINE.length + 1));
    if (end === -1) {
      if (all.length >= room) throw new UndecodableError('multipart-header', 'A part header is too long.');
      this.#head = before === 0 ? Buffer.from(all) : all;
      return null;
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
    this.#section = 'content';
    this.#detector.begin();
    // Without content, the line end of the blank line is also the beginning of the next delimiter.
    this.#skip = CRLF.length;
    const start = end + BLANK_LINE.length - before;
    this.#data =
      start >= CRLF.length ? data.subarray(start - CRLF.length) : Buffer.concat([CRLF, data.subarray(start)]);
    return { type: 'head', block };
  }

  /** Offset at which an incomplete delimiter may begin; the end of `data` when there is none. */
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
    const limit = at + MAX_PADDING;
    while (at < limit && (data[at] === 0x20 || data[at] === 0x09)) at++;
    if (at === data.length || (data[at] === 0x0d && at + 1 === data.length)) return { kind: 'undecided' };
    if (data[at] === 0x0d && data[at + 1] === 0x0a) return { kind, end: at + 2 };
    if (kind === 'closing') while (at < limit && isWhiteSpace(data[at])) at++;
    return kind === 'closing' && at === data.length ? { kind: 'undecided' } : { kind: 'content' };
  }

  #hold(data: Buffer, start: number): MultipartToken | null {
    const token = this.#content(data, start);
    this.#skip = start === 0 ? this.#skip : 0;
    // A copy, so that a few bytes do not keep a whole chunk alive.
    this.#held = start === data.length ? NOTHING : Buffer.from(data.subarray(start));
    return token;
  }

  #content(data: Buffer, end: number): MultipartToken | null {
    if (end <= this.#skip) return null;
    const bytes = data.subarray(this.#skip, end);
    if (this.#section !== 'content') return this.#skipWhiteSpace(bytes);
    if (this.#detector.push(bytes)) this.#damaged();
    return { type: 'data', bytes };
  }

  #endPart(): MultipartToken {
    if (this.#detector.end()) this.#damaged();
    return END;
  }

  /** Skips white space around the parts. Throws for anything else. */
  #skipWhiteSpace(bytes: Buffer): null {
    if (bytes.every(isWhiteSpace)) return null;
    throw new UndecodableError('multipart-unaccounted', 'There is content outside the parts.');
  }

  #damaged(): never {
    throw new UndecodableError('multipart-unaccounted', 'A part contains a damaged delimiter.');
  }
}

function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
