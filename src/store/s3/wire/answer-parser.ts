import { FIELD_NAME } from '../../../text/header-line.js';
import { noAnswer, type S3Failure } from '../s3-failure.js';
import { remembered } from './remembered.js';

/** An answer with its whole body. Headers that came several times are joined by commas. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly text: string;
}

/** Values by name, in lower case. */
export type AnswerHeaders = Readonly<Record<string, string>>;

/** Node's own limit of a head, in bytes. */
const MAX_HEAD = 16 * 1024;
/** S3 answers a write with an error document at most; a proxy's page may have no end. */
const MAX_BODY = 64 * 1024;
/** The length of a chunk in hexadecimal digits, and extensions, which nobody sends. */
const MAX_CHUNK_LINE = 1024;
/** Of a whole answer that comes in pieces. Informational answers may come without end, and extensions with each chunk. */
const MAX_KEPT = MAX_HEAD + 2 * MAX_BODY;

type Framing = 'none' | 'sized' | 'chunked' | 'until-close';

/**
 * Reads the answers of one connection, one after the other, to requests that are not pipelined (RFC 9112). An answer that arrives
 * in one piece, as almost all do, is not copied.
 *
 * Everything that is not beyond doubt is an error, after which the connection has to be closed: what arrives next could not be
 * attributed to a request.
 */
export class AnswerParser {
  /** What has arrived of an answer that is not complete, in the first `#length` bytes. */
  #kept: Buffer = NOTHING;
  #length = 0;
  /** Where reading goes on. */
  #at = 0;
  #toHead = false;
  #status = 0;
  #headers: AnswerHeaders | null = null;
  #framing: Framing = 'none';
  #bodyLength = 0;
  #chunks: Buffer[] = [];
  #reusable = false;

  /** True when another request may follow the answer that was returned last. */
  get reusable(): boolean {
    return this.#reusable;
  }

  /** To be called before each request. @param toHead the answer to a HEAD has no body, whatever its head says */
  begin(toHead: boolean): void {
    this.#length = 0;
    this.#at = 0;
    this.#toHead = toHead;
    this.#status = 0;
    this.#headers = null;
    this.#reusable = false;
  }

  /**
   * Takes the first `length` of `bytes`, which it does not keep. Returns the answer once it is complete, else null.
   *
   * @throws S3Failure `NotAnswerOfS3`
   */
  take(bytes: Buffer, length: number): WholeAnswer | null {
    if (this.#length > 0) {
      this.#keep(bytes, length);
      return this.#read(this.#kept, this.#length);
    }
    const answer = this.#read(bytes, length);
    if (answer === null) this.#keep(bytes, length);
    return answer;
  }

  /** The connection has ended: returns the answer that ends with it, else null. */
  end(): WholeAnswer | null {
    if (this.#headers === null || this.#framing !== 'until-close') return null;
    return this.#answer(this.#kept.toString('utf8', this.#at, this.#length));
  }

  #keep(bytes: Buffer, length: number): void {
    const needed = this.#length + length;
    if (needed > MAX_KEPT) throw this.#malformed('too long');
    if (needed > this.#kept.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(1024, 2 * needed));
      this.#kept.copy(larger, 0, 0, this.#length);
      this.#kept = larger;
    }
    bytes.copy(this.#kept, this.#length, 0, length);
    this.#length = needed;
  }

  #read(bytes: Buffer, length: number): WholeAnswer | null {
    while (this.#headers === null || this.#status < 200) if (!this.#readHead(bytes, length)) return null;
    switch (this.#framing) {
      case 'none':
        return this.#ended(length, this.#at, '');
      case 'sized':
        return this.#readSized(bytes, length);
      case 'chunked':
        return this.#readChunks(bytes, length);
      case 'until-close':
        if (length - this.#at > MAX_BODY) throw this.#malformed('too long');
        return null;
    }
  }

  /** False when the head is not complete. Informational answers (1xx) precede the one that counts. */
  #readHead(bytes: Buffer, length: number): boolean {
    const end = indexIn(bytes, length, '\r\n\r\n', this.#at);
    if (end < 0 || end - this.#at > MAX_HEAD) {
      if (length - this.#at > MAX_HEAD) throw this.#malformed('a head too long');
      return false;
    }
    const text = bytes.toString('utf8', this.#at, end);
    this.#at = end + 4;
    const [, minor, status] = STATUS_LINE.exec(text) ?? [];
    if (status === undefined) throw this.#malformed('not HTTP/1.1');
    this.#status = Number(status);
    if (this.#status === 101) throw this.#malformed('another protocol');
    const headers = headersIn(text);
    if (headers === null) throw this.#malformed('a malformed header');
    this.#headers = headers;
    this.#frame(headers, minor === '1');
    return true;
  }

  /** How the body ends (RFC 9112, 6.3). */
  #frame(headers: AnswerHeaders, persistent: boolean): void {
    const { 'transfer-encoding': encoding, 'content-length': size, connection } = headers;
    this.#reusable = persistent && (connection === undefined || !/\bclose\b/i.test(connection));
    if (this.#toHead || this.#status < 200 || this.#status === 204 || this.#status === 304) {
      this.#framing = 'none';
    } else if (encoding !== undefined) {
      // Both together are an attempt to smuggle, or an error.
      if (encoding.toLowerCase() !== 'chunked' || size !== undefined) throw this.#malformed('unclear length');
      this.#framing = 'chunked';
      this.#bodyLength = 0;
      this.#chunks = [];
    } else if (size !== undefined) {
      if (!/^\d{1,15}$/.test(size)) throw this.#malformed('unclear length');
      this.#framing = 'sized';
      this.#bodyLength = Number(size);
      if (this.#bodyLength > MAX_BODY) throw this.#malformed('too long');
    } else {
      this.#framing = 'until-close';
      this.#reusable = false;
    }
  }

  #readSized(bytes: Buffer, length: number): WholeAnswer | null {
    const end = this.#at + this.#bodyLength;
    return length < end ? null : this.#ended(length, end, bytes.toString('utf8', this.#at, end));
  }

  #readChunks(bytes: Buffer, length: number): WholeAnswer | null {
    for (;;) {
      const lineEnd = indexIn(bytes, length, '\r\n', this.#at);
      if (lineEnd < 0) {
        if (length - this.#at > MAX_CHUNK_LINE) throw this.#malformed('not chunked');
        return null;
      }
      const [, digits] = CHUNK_LINE.exec(bytes.toString('latin1', this.#at, lineEnd)) ?? [];
      if (digits === undefined) throw this.#malformed('not chunked');
      const size = Number.parseInt(digits, 16);
      const start = lineEnd + 2;
      if (size === 0) return this.#readTrailers(bytes, length, start);
      if (this.#bodyLength + size > MAX_BODY) throw this.#malformed('too long');
      const end = start + size;
      if (length < end + 2) return null;
      if (bytes[end] !== CR || bytes[end + 1] !== LF) throw this.#malformed('not chunked');
      this.#chunks.push(Buffer.from(bytes.subarray(start, end)));
      this.#bodyLength += size;
      this.#at = end + 2;
    }
  }

  #readTrailers(bytes: Buffer, length: number, start: number): WholeAnswer | null {
    // Without trailers the empty line follows at once: then it ends with the line break of the last chunk.
    const end = indexIn(bytes, length, '\r\n\r\n', start - 2);
    if (end < 0) {
      if (length - start > MAX_HEAD) throw this.#malformed('trailers too long');
      return null;
    }
    if (headersIn(bytes.toString('latin1', start - 2, end)) === null)
      throw this.#malformed('a malformed trailer');
    return this.#ended(length, end + 4, Buffer.concat(this.#chunks).toString());
  }

  #ended(length: number, end: number, text: string): WholeAnswer {
    // Bytes that nobody asked for: what follows could not be attributed to a request.
    if (length > end) this.#reusable = false;
    return this.#answer(text);
  }

  #answer(text: string): WholeAnswer {
    return { status: this.#status, headers: this.#headers ?? {}, text };
  }

  #malformed(what: string): S3Failure {
    return noAnswer('NotAnswerOfS3', `status ${this.#status}, ${what}`);
  }
}

const NOTHING = Buffer.alloc(0);
const CR = 13;
const LF = 10;

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |\r|$)/;
/** Lines that end with CR LF, without other line breaks and control characters. */
const LINES = /^[\t -~\x80-\uffff]*(?:\r\n[\t -~\x80-\uffff]*)*$/;
const CHUNK_LINE = /^([0-9a-f]{1,8})(?:;[\w=;]*)?$/i;

/** Index of `text` in the first `length` bytes; what lies behind them is of an earlier read. */
function indexIn(bytes: Buffer, length: number, text: string, from: number): number {
  const found = bytes.indexOf(text, from, 'latin1');
  return found + text.length > length ? -1 : found;
}

/** The header lines after the first line of a head, which may be empty; null when one is malformed. */
function headersIn(head: string): AnswerHeaders | null {
  if (!LINES.test(head)) return null;
  const headers: Record<string, string> = {};
  let lineBreak = head.indexOf('\r\n');
  while (lineBreak >= 0) {
    const start = lineBreak + 2;
    lineBreak = head.indexOf('\r\n', start);
    const end = lineBreak < 0 ? head.length : lineBreak;
    const colon = head.indexOf(':', start);
    const name = colon < 0 || colon > end ? null : lowerCase(head.slice(start, colon));
    if (name === null) return null;
    const value = head.slice(head[colon + 1] === ' ' ? colon + 2 : colon + 1, end).trim();
    const earlier: unknown = headers[name];
    // A name such as `constructor` finds what objects inherit.
    headers[name] = typeof earlier === 'string' ? `${earlier}, ${value}` : value;
  }
  return headers;
}

/** The name of a header in lower case; null for what is no name. A store sends a dozen, again and again. */
const lowerCase = remembered((name) => (FIELD_NAME.test(name) ? name.toLowerCase() : null), 200);
