import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { UndecodableError } from '../../archive/content/decode-error.js';
import { headerField, looseParameter, type PartHead } from '../../archive/content/part-head.js';

const FIXED_TYPE = 'Content-Type: application/octet-stream\r\n';
/**
 * Written after every header block, and removed again. busboy holds back a line end at the end of a write, because it may
 * begin a delimiter; with another byte the header block is complete at once.
 */
const LEAD = '.';
/** The type of a disposition, which may be folded. busboy skips every part that is not `form-data`. */
const DISPOSITION_TYPE = /^(content-disposition:)(?:[^;\r\n]|\r\n(?=[ \t]))*/im;
const IDENTITY_ENCODINGS = ['7bit', '8bit', 'binary'];

/**
 * Parses the header blocks that `plainPartHead` does not understand, with busboy 1.6.
 *
 * Each part is written with a random boundary, and with a fixed content type before the sender's header block and one
 * byte as its content. busboy uses the first of repeated headers, and always treats application/octet-stream as a
 * file; otherwise a part without a file name would become a string. Other dispositions are rewritten to form-data. Header
 * blocks that busboy still skips (no disposition, malformed parameters) are written again with a disposition that has only the name.
 *
 * The content of the parts does not pass through busboy: `DelimiterScanner` has already split it.
 *
 * Streams are read right after each write, in the same turn of the event loop, so that nothing can hang.
 */
export class BusboyParts {
  /** 122 random bits, which Node generates for many UUIDs at a time. */
  readonly #boundary = randomUUID();
  readonly #busboy: busboy.Busboy;
  #file: Readable | null = null;
  #head: PartHead | null = null;
  #error: unknown = null;

  constructor() {
    this.#busboy = busboy({
      headers: { 'content-type': `multipart/form-data; boundary=${this.#boundary}` },
      defParamCharset: 'utf8',
    });
    this.#busboy.on('error', (error) => {
      this.#error ??= error;
    });
    this.#busboy.on('file', (name: string | undefined, file: Readable, info: busboy.FileInfo) => {
      // Without a listener the error of a truncated part would crash the process.
      file.on('error', () => {});
      this.#file = file;
      this.#head = describe(name, info);
    });
    this.#busboy.write(`--${this.#boundary}`);
  }

  /** Parses the sender's header block: lines with their ends, without the blank line. */
  parse(block: Buffer): PartHead {
    const text = block.toString('latin1');
    this.#writeHead(text.replace(DISPOSITION_TYPE, '$1 form-data'));
    if (this.#head === null) {
      this.#write(`\r\n--${this.#boundary}`);
      this.#writeHead(namedDisposition(text) + text);
    }
    if (this.#head === null) throw new UndecodableError('multipart-unaccounted', 'A part was skipped.');
    const head = this.#takeHead(text, this.#head);
    this.#endPart();
    return head;
  }

  /** Call it after the last part. Resolves when busboy agrees that the form is complete. */
  async finish(): Promise<void> {
    const closed = new Promise((resolve) => this.#busboy.once('close', resolve));
    this.#busboy.end('--');
    await closed;
    if (this.#error === null) return;
    throw new UndecodableError('multipart-unaccounted', 'The form ended differently.', {
      cause: this.#error,
    });
  }

  destroy(): void {
    this.#file?.destroy();
    this.#busboy.destroy();
  }

  #writeHead(block: string): void {
    this.#write(Buffer.from(`\r\n${FIXED_TYPE}${block}\r\n${LEAD}`, 'latin1'));
  }

  #takeHead(block: string, head: PartHead): PartHead {
    this.#head = null;
    if (this.#file?.read()?.toString() !== LEAD)
      throw new UndecodableError('multipart-unaccounted', 'A part is shifted.');
    const contentType = headerField(block, 'content-type');
    return contentType ? { ...head, contentType } : head;
  }

  #endPart(): void {
    this.#write(`\r\n--${this.#boundary}`);
    if (this.#file?.read()) throw new UndecodableError('multipart-unaccounted', 'A part is shifted.');
    this.#file = null;
  }

  #write(bytes: Buffer | string): void {
    this.#busboy.write(bytes);
    this.#check();
  }

  #check(): void {
    if (this.#error === null) return;
    throw new UndecodableError('multipart-header', 'A part header is malformed.', { cause: this.#error });
  }
}

/** A disposition with only the name, if one can be read. */
function namedDisposition(block: string): string {
  const name = looseParameter(headerField(block, 'content-disposition') ?? '', 'name');
  return `Content-Disposition: form-data${name === undefined ? '' : `; name="${name}"`}\r\n`;
}

function describe(name: string | undefined, info: busboy.FileInfo): PartHead {
  return {
    name: name ?? null,
    ...(info.filename ? { fileName: info.filename } : {}),
    ...(IDENTITY_ENCODINGS.includes(info.encoding.trim()) ? {} : { transferEncoding: info.encoding }),
  };
}
