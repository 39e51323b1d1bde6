import { UndecodableError } from '../../archive/content/decode-error.js';
import { PlannedItem, singleBodyPlan } from '../../archive/content/item-plan.js';
import { boundaryOf, type MediaType, parseMediaType } from '../../archive/content/media-type.js';
import type { PartShape } from '../../archive/content/part-plan.js';
import type { ItemSink } from '../../domain/item.js';
import { type ByteSource, RawBody } from './byte-source.js';
import { decodeMultipart } from './decode-multipart.js';
import { contentEncodings, decodedSource } from './inflated-source.js';

/** The headers and parameters that describe a body. */
export interface BodyHeaders {
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly contentLength: number | null;
  /** Tokens of the `contents` query parameter. */
  readonly contents: readonly string[];
}

/**
 * Decodes a callback's body and streams its items into `sink`, one after the other, byte-exact (docs/answers.md). The next
 * chunk is read only when the sink has accepted the last one.
 *
 * Throws
 * - UndecodableError when the body does not contain what it claims to. By then `body` has been read to its end, so that
 *   `onRaw` was called with all of it. Items may have been opened and even ended: none of them may be published.
 * - BodyTooLargeError as soon as a limit is exceeded, also while reading that rest.
 * - EncodingRefusedError for several content encodings, and for one that expands too far.
 * - Errors of `body` and `sink`, unchanged and at once.
 *
 * In the last three cases `body` is left as `for await` leaves it: the `return` of its iterator is called, which destroys a
 * plain stream.
 *
 * @param maxBytes most bytes of the body, as received and after its content encoding is decoded
 * @param onRaw called with every chunk as received, before any decoding
 * @returns the parts of a form; undefined for other bodies
 */
export async function decodeBody(
  headers: BodyHeaders,
  body: AsyncIterable<Buffer>,
  sink: ItemSink,
  maxBytes: number,
  onRaw: (chunk: Buffer) => void = () => {},
): Promise<readonly PartShape[] | undefined> {
  const raw = new RawBody(body, maxBytes, onRaw);
  try {
    const first = await raw.next();
    if (first === null) return undefined;
    raw.putBack(first);
    const { contentEncoding } = headers;
    const encodings = contentEncoding === null ? [] : contentEncodings(contentEncoding);
    const type = parseMediaType(headers.contentType);
    return encodings.length === 0
      ? await decodePlain(headers, type, raw, headers.contentLength, sink)
      : await decodeEncoded(headers, type, raw, encodings, sink, maxBytes);
  } catch (error) {
    if (error instanceof UndecodableError) await raw.drain();
    throw error;
  } finally {
    if (!raw.over) await raw.close();
  }
}

async function decodeEncoded(
  headers: BodyHeaders,
  type: MediaType,
  source: ByteSource,
  encodings: readonly string[],
  sink: ItemSink,
  maxBytes: number,
): Promise<readonly PartShape[] | undefined> {
  const decoded = decodedSource(source, encodings, maxBytes);
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
    : decodeLone(headers, type, source, expectedBytes, sink);
}

function isForm({ essence }: MediaType): boolean {
  return essence.startsWith('multipart/');
}

async function decodeLone(
  headers: BodyHeaders,
  type: MediaType,
  source: ByteSource,
  expectedBytes: number | null,
  sink: ItemSink,
): Promise<undefined> {
  let item: PlannedItem | null = null;
  for (let chunk = await source.next(); chunk !== null; chunk = await source.next()) {
    item ??= openLone(headers, type, expectedBytes, sink);
    await item.write(chunk);
  }
  await item?.end();
}

function openLone(
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
