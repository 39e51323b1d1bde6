import { setImmediate as nextTurn } from 'node:timers/promises';
import { BodyTooLargeError, UndecodableError } from '../../archive/content/decode-error.js';
import { type PartShape, PlannedItem, singleBodyPlan } from '../../archive/content/item-plan.js';
import { boundaryOf, type MediaType, parseMediaType } from '../../archive/content/media-type.js';
import type { ItemSink } from '../../domain/item.js';
import type { RequestHeaders } from '../callback-request.js';
import type { ByteSource } from './byte-source.js';
import { decodeMultipart } from './decode-multipart.js';
import { contentEncodings, type DecodeLimits, decodedSource } from './inflated-source.js';

/** The headers and parameters that describe a body. */
export interface BodyHeaders {
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly contentLength: number | null;
  /** Tokens of the `contents` query parameter. */
  readonly contents: readonly string[];
}

/**
 * The encodings of a body in the order in which they were applied, as a Content-Encoding value: all lines of that header, then the
 * transfer codings except `chunked`, which Node decodes. Null when there is nothing to decode.
 */
export function bodyEncodings(headers: RequestHeaders): string | null {
  if (headers['content-encoding'] === undefined && headers['transfer-encoding'] === undefined) return null;
  const { 'content-encoding': encodings = [], 'transfer-encoding': codings = [] } = headers;
  const transfer = codings.flatMap((value) => value.split(',')).map((coding) => coding.trim());
  const all = [...encodings, ...transfer.filter((coding) => coding.toLowerCase() !== 'chunked')];
  return all.length === 0 ? null : all.join(', ');
}

/**
 * Decodes a callback's body and streams its items into `sink`, one after the other, byte-exact (docs/answers.md). The next
 * chunk is read only when the sink has accepted the last one.
 *
 * Throws
 * - UndecodableError when the body is not what its headers declare. By then `body` has been read to its end, so that
 *   `onRaw` was called with all of it. Items may have been opened and even ended: none of them may be published.
 * - BodyTooLargeError as soon as a limit is exceeded, even after a decoding error.
 * - EncodingRefusedError for several content encodings, and for one that expands too far.
 * - An `overloaded` Problem when there is no memory for a content encoding.
 * - Errors of `body` and `sink`, unchanged and immediately.
 *
 * In the last four cases the `return` of the iterator of `body` is called, as `for await` does, which destroys a plain stream.
 *
 * @param onRaw called with every chunk as received, before any decoding
 * @returns the parts of a form; undefined for other bodies
 */
export async function decodeBody(
  headers: BodyHeaders,
  body: AsyncIterable<Buffer>,
  sink: ItemSink,
  limits: DecodeLimits,
  onRaw: (chunk: Buffer) => void = () => {},
): Promise<readonly PartShape[] | undefined> {
  const raw = new RawBody(body, limits.maxBytes, onRaw);
  try {
    const first = await raw.next();
    if (first === null) return undefined;
    raw.putBack(first);
    const { contentEncoding } = headers;
    const encodings = contentEncoding === null ? [] : contentEncodings(contentEncoding);
    const type = parseMediaType(headers.contentType);
    return encodings.length === 0
      ? await decodePlain(headers, type, raw, headers.contentLength, sink)
      : await decodeEncoded(headers, type, raw, encodings, sink, limits);
  } catch (error) {
    if (error instanceof UndecodableError) await raw.drain();
    throw error;
  } finally {
    if (!raw.ended) await raw.close();
  }
}

async function decodeEncoded(
  headers: BodyHeaders,
  type: MediaType,
  source: ByteSource,
  encodings: readonly string[],
  sink: ItemSink,
  limits: DecodeLimits,
): Promise<readonly PartShape[] | undefined> {
  const decoded = decodedSource(source, encodings, limits);
  try {
    return await decodePlain(headers, type, decoded, null, sink);
  } finally {
    decoded.destroy();
  }
}

function decodePlain(
  headers: BodyHeaders,
  type: MediaType,
  source: ByteSource,
  expectedBytes: number | null,
  sink: ItemSink,
): Promise<readonly PartShape[] | undefined> {
  return isForm(type)
    ? decodeMultipart(source, formBoundary(type), sink)
    : decodeSingle(headers, type, source, expectedBytes, sink);
}

function isForm({ essence }: MediaType): boolean {
  return essence.startsWith('multipart/');
}

async function decodeSingle(
  headers: BodyHeaders,
  type: MediaType,
  source: ByteSource,
  expectedBytes: number | null,
  sink: ItemSink,
): Promise<undefined> {
  let item: PlannedItem | null = null;
  for (let chunk = await source.next(); chunk !== null; chunk = await source.next()) {
    item ??= openSingle(headers, type, expectedBytes, sink);
    await item.write(chunk);
  }
  await item?.end();
}

function openSingle(
  { contentType, contents }: BodyHeaders,
  type: MediaType,
  expectedBytes: number | null,
  sink: ItemSink,
): PlannedItem {
  const plan = singleBodyPlan(type, contentType, contents);
  return new PlannedItem(sink, plan, expectedBytes === null ? {} : { expectedBytes });
}

function formBoundary(type: MediaType): string {
  if (type.essence !== 'multipart/form-data') {
    throw new UndecodableError('multipart-unsupported', 'Only multipart/form-data is understood.');
  }
  const boundary = boundaryOf(type);
  if (boundary === null) throw new UndecodableError('multipart-boundary', 'There is no usable boundary.');
  return boundary;
}

/** Bytes processed in one turn of the event loop; the JSON check of them takes under a millisecond. */
const SLICE_BYTES = 256 * 1024;

/** The raw body, limited to `maxBytes`. Large chunks are sliced, with a turn of the event loop between slices. */
class RawBody implements ByteSource {
  readonly #iterator: AsyncIterator<Buffer>;
  readonly #maxBytes: number;
  readonly #onRaw: (chunk: Buffer) => void;
  #pending: Buffer | null = null;
  #putBack: Buffer | null = null;
  #bytes = 0;
  #ended = false;

  /** @param onRaw called with every chunk as received */
  constructor(body: AsyncIterable<Buffer>, maxBytes: number, onRaw: (chunk: Buffer) => void) {
    this.#iterator = body[Symbol.asyncIterator]();
    this.#maxBytes = maxBytes;
    this.#onRaw = onRaw;
  }

  next(): Promise<Buffer | null> {
    const chunk = this.#putBack;
    this.#putBack = null;
    if (chunk !== null) return Promise.resolve(chunk);
    return this.#pending === null ? this.#nextChunk() : this.#nextSlice(this.#pending);
  }

  /** Makes the next call of `next` return this chunk again. */
  putBack(chunk: Buffer): void {
    this.#putBack = chunk;
  }

  /** Reads and discards the rest; the limit still applies. */
  async drain(): Promise<void> {
    this.#putBack = null;
    this.#pending = null;
    while (!this.#ended) {
      await this.#nextChunk();
      this.#pending = null;
    }
  }

  /** True when the iteration has ended, even with an error, so that there is nothing to close. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Ends the iteration, as leaving a `for await` early would. */
  async close(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    try {
      await this.#iterator.return?.();
    } catch {
      // The error that stopped the decoder is the one to report.
    }
  }

  #firstSlice(chunk: Buffer): Buffer {
    if (chunk.length <= SLICE_BYTES) return chunk;
    this.#pending = chunk.subarray(SLICE_BYTES);
    return chunk.subarray(0, SLICE_BYTES);
  }

  async #nextSlice(rest: Buffer): Promise<Buffer> {
    await nextTurn();
    this.#pending = rest.length > SLICE_BYTES ? rest.subarray(SLICE_BYTES) : null;
    return rest.subarray(0, SLICE_BYTES);
  }

  /** The next chunk of the sender, or null at the end or after an error. */
  async #nextChunk(): Promise<Buffer | null> {
    while (!this.#ended) {
      // Stays true when the body rejects.
      this.#ended = true;
      const { done, value } = await this.#iterator.next();
      if (done) break;
      this.#ended = false;
      this.#bytes += value.length;
      if (this.#bytes > this.#maxBytes) throw new BodyTooLargeError(this.#maxBytes);
      this.#onRaw(value);
      if (value.length > 0) return this.#firstSlice(value);
    }
    return null;
  }
}
