import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import {
  BodyTooLargeError,
  EncodingRefusedError,
  UndecodableError,
} from '../../archive/content/decode-error.js';
import { Problem } from '../../domain/problem.js';
import type { BudgetLease } from '../../lib/memory/budget-lease.js';
import type { ByteSource } from './byte-source.js';

/** A zlib stream; `bytesWritten` is the number of input bytes that it has consumed. */
type Decompressor = Transform & { readonly bytesWritten: number };

export interface DecodeLimits {
  /** Limit of the bytes of a body, both as received and as decoded. */
  readonly maxBytes: number;
  /** Accounts for the window of a decompressor. Default: not accounted. */
  readonly memory?: Pick<BudgetLease, 'setAside' | 'giveAside'>;
}

/** Enough to distinguish the two forms of `deflate`. */
const BEGINNING_BYTES = 2;

/** Highest ratio of decoded to encoded bytes. Text compresses 5 to 30 : 1, zeros 1,000 : 1 in gzip and far more in brotli. */
const MAX_RATIO = 200;
/** Decoded bytes up to which any ratio is accepted. */
const UNLIMITED_BYTES = 1024 * 1024;
/** Encoded bytes assumed in advance while a body arrives, so that a recording that begins with silence is not refused. */
const ADVANCE_BYTES = 64 * 1024;
const OUTPUT_CHUNK = 64 * 1024;

/**
 * Decodes one content encoding on demand: a chunk is inflated only as far as it is read, and the next one is read only when it is used
 * up. Rejects with UndecodableError when the encoded data is corrupt, truncated, or followed by more, with EncodingRefusedError when it
 * expands more than 200 : 1 beyond 1 MiB, and with an `overloaded` Problem when no memory is free.
 */
class InflatedSource implements ByteSource {
  readonly #source: ByteSource;
  readonly #open: Open;
  readonly #limits: DecodeLimits;
  #stream: Decompressor | null = null;
  #needsInput = true;
  #sourceEnded = false;
  #bytesIn = 0;
  #bytesOut = 0;
  #error: unknown = null;
  #ended = false;
  #wake = () => {};

  constructor(source: ByteSource, open: Open, limits: DecodeLimits) {
    this.#source = source;
    this.#open = open;
    this.#limits = limits;
  }

  async next(): Promise<Buffer | null> {
    const stream = this.#stream ?? (await this.#begin());
    for (;;) {
      if (this.#error !== null) throw corrupt('does not decode', this.#error);
      const bytes: Buffer | null = stream.read();
      if (bytes !== null) return this.#counted(bytes);
      if (this.#ended) return this.#expectNothingMore(stream);
      if (this.#needsInput) await this.#feed(stream, await this.#source.next());
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Destroys the decompressor. Call it in every case. */
  destroy(): void {
    this.#stream?.destroy();
    this.#limits.memory?.giveAside();
  }

  async #begin(): Promise<Decompressor> {
    let beginning: Buffer = Buffer.alloc(0);
    while (beginning.length < BEGINNING_BYTES && !this.#sourceEnded) {
      const chunk = await this.#source.next();
      if (chunk === null) this.#sourceEnded = true;
      else beginning = beginning.length === 0 ? chunk : Buffer.concat([beginning, chunk]);
    }
    const { window = 0, create } = this.#open(beginning);
    this.#reserve(window);
    const stream = create();
    this.#stream = stream;
    stream.on('readable', () => this.#wake());
    stream.on('close', () => this.#wake());
    stream.on('end', () => {
      this.#ended = true;
      this.#wake();
    });
    stream.on('error', (error) => {
      this.#error ??= error;
      this.#wake();
    });
    await this.#feed(stream, beginning);
    return stream;
  }

  /** Does not wait for memory, because decompressors free theirs only when their bodies end. */
  #reserve(window: number): void {
    if (window > 0 && this.#limits.memory?.setAside(window) === false)
      throw new Problem('overloaded', 'No memory is free to decode this body; send it again.');
  }

  async #feed(stream: Decompressor, chunk: Buffer | null): Promise<void> {
    this.#needsInput = false;
    if (chunk === null) {
      this.#sourceEnded = true;
      stream.end();
      return;
    }
    this.#bytesIn += chunk.length;
    stream.write(chunk, () => {
      this.#needsInput = !this.#sourceEnded;
      if (this.#sourceEnded && !stream.writableEnded) stream.end();
      this.#wake();
    });
  }

  async #expectNothingMore(stream: Decompressor): Promise<null> {
    if (stream.bytesWritten !== this.#bytesIn) throw corrupt('is followed by something else');
    if (!this.#sourceEnded && (await this.#source.next()) !== null)
      throw corrupt('is followed by something else');
    this.#sourceEnded = true;
    this.#assertBytesOut(MAX_RATIO * this.#bytesIn);
    return null;
  }

  #counted(bytes: Buffer): Buffer {
    this.#bytesOut += bytes.length;
    const { maxBytes } = this.#limits;
    if (this.#bytesOut > maxBytes) throw new BodyTooLargeError(maxBytes);
    this.#assertBytesOut(MAX_RATIO * (this.#bytesIn + ADVANCE_BYTES));
    return bytes;
  }

  #assertBytesOut(maxBytesOut: number): void {
    if (this.#bytesOut <= Math.max(UNLIMITED_BYTES, maxBytesOut)) return;
    throw new EncodingRefusedError(
      `The content encoding expands the body more than ${MAX_RATIO} : 1; send it without one.`,
    );
  }
}

function corrupt(what: string, cause?: unknown): UndecodableError {
  return new UndecodableError('encoding-corrupt', `The encoded body ${what}.`, { cause });
}

interface Decoding {
  /** Bytes that the decompressor may allocate for its window. Default: up to 32 KiB, which are not accounted. */
  readonly window?: number;
  readonly create: () => Decompressor;
}

type Open = (beginning: Buffer) => Decoding;

const gunzip: Open = () => ({ create: () => zlib.createGunzip({ chunkSize: OUTPUT_CHUNK }) });
const DECODERS: Record<string, Open | undefined> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  br: (beginning) => ({
    window: brotliWindow(beginning),
    create: () => zlib.createBrotliDecompress({ chunkSize: OUTPUT_CHUNK }),
  }),
  deflate: (beginning) => ({
    create: () =>
      hasZlibHeader(beginning)
        ? zlib.createInflate({ chunkSize: OUTPUT_CHUNK })
        : zlib.createInflateRaw({ chunkSize: OUTPUT_CHUNK }),
  }),
};

/** The encodings of a Content-Encoding value in the order in which they were applied, without `identity`. */
export function contentEncodings(header: string): readonly string[] {
  const tokens = header.split(',').map((token) => token.trim().toLowerCase());
  return tokens.filter((token) => token !== '' && token !== 'identity');
}

/**
 * Decodes a body with one content encoding. Throws UndecodableError for an unknown encoding, and EncodingRefusedError for several,
 * because each multiplies the possible expansion of a small body, and real senders use one.
 */
export function decodedSource(
  source: ByteSource,
  [encoding = 'identity', ...others]: readonly string[],
  limits: DecodeLimits,
): InflatedSource {
  if (others.length > 0)
    throw new EncodingRefusedError('The body has several content encodings; send it with at most one.');
  const open = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (open === undefined)
    throw new UndecodableError('encoding-unsupported', 'The content encoding is not known.');
  return new InflatedSource(source, open, limits);
}

/** `deflate` means the zlib format, but raw deflate data is also sent under that name (RFC 9110, 8.4.1.2). */
function hasZlibHeader(beginning: Buffer): boolean {
  const [first = 0, second = 0] = beginning;
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
}

/** The window size in the header of a brotli stream: 1 KiB to 16 MiB (RFC 7932, 9.1). */
function brotliWindow([first = 0]: Buffer): number {
  if ((first & 1) === 0) return 2 ** 16;
  const bits = (first >> 1) & 7;
  if (bits > 0) return 2 ** (17 + bits);
  const few = (first >> 4) & 7;
  return 2 ** (few === 0 ? 17 : 8 + few);
}
