import { UndecodableError } from '../../content/decode-error.js';
import { PlannedItem } from '../../content/item-plan.js';
import { boundaryOf, type MediaType, parseMediaType } from '../../content/media-type.js';
import type { PartShape } from '../../content/part-shape.js';
import { singleBodyPlan } from '../../content/single-body-plan.js';
import type { ItemSink } from '../../domain/item.js';
import { type ByteSource, RawBody } from './byte-source.js';
import { contentEncodings, decodedSource } from './content-encoding.js';
import { decodeMultipart } from './decode-multipart.js';

/** The headers and parameters that describe a body. */
export interface BodyHeaders {
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly contentLength: number | null;
  /** Tokens of the `contents` query parameter. */
  readonly contents: readonly string[];
}

export interface DecodeLimits {
  /** Most bytes of the body, as received and after each content encoding is decoded. */
  readonly maxBytes: number;
  /** Most parts of a form. Default 100. */
  readonly maxParts?: number;
}

/** The number of items in a body, and the parts of a form. */
export interface DecodedBody {
  readonly items: number;
  readonly parts?: readonly PartShape[];
}

/** A callback has at most six parts today. */
const MAX_PARTS = 100;

/**
 * Decodes a callback's body and streams its items into `sink`, one after the other, byte-exact (docs/answers.md). The next
 * chunk is read only when the sink has accepted the last one.
 *
 * Throws
 * - UndecodableError when the body does not contain what it claims to. By then `body` has been read to its end, so that
 *   `onRaw` was called with all of it. Items may have been opened and even ended: none of them may be published.
 * - BodyTooLargeError as soon as a limit is exceeded, also while reading that rest.
 * - Errors of `body` and `sink`, unchanged and at once.
 *
 * In the last two cases `body` is left as `for await` leaves it: the `return` of its iterator is called, which destroys a
 * plain stream.
 *
 * @param onRaw called with every chunk as received, before any decoding
 */
export async function decodeBody(
  headers: BodyHeaders,
  body: AsyncIterable<Buffer>,
  sink: ItemSink,
  limits: DecodeLimits,
  onRaw: (chunk: Buffer) => void = () => {},
): Promise<DecodedBody> {
  const raw = new RawBody(body, limits.maxBytes, onRaw);
  try {
    const first = await raw.next();
    if (first === null) return NOTHING;
    raw.putBack(first);
    const encodings = contentEncodings(headers.contentEncoding);
    const type = parseMediaType(headers.contentType);
    return encodings.length === 0
      ? await decodePlain(headers, type, raw, headers.contentLength, sink, limits)
      : await decodeEncoded(headers, type, raw, encodings, sink, limits);
  } catch (error) {
    if (error instanceof UndecodableError) await raw.drain();
    throw error;
  } finally {
    if (!raw.over) await raw.close();
  }
}

const NOTHING: DecodedBody = { items: 0 };

async function decodeEncoded(
  headers: BodyHeaders,
  type: MediaType,
  source: ByteSource,
  encodings: readonly string[],
  sink: ItemSink,
  limits: DecodeLimits,
): Promise<DecodedBody> {
  const layers = decodedSource(source, encodings, limits.maxBytes);
  try {
    return await decodePlain(headers, type, layers.at(-1) ?? source, null, sink, limits);
  } finally {
    for (const layer of layers) layer.destroy();
  }
}

function decodePlain(
  headers: BodyHeaders,
  type: MediaType,
  source: ByteSource,
  expectedBytes: number | null,
  sink: ItemSink,
  limits: DecodeLimits,
): Promise<DecodedBody> {
  return isForm(type)
    ? decodeForm(type, source, sink, limits)
    : decodeLone(headers, type, source, expectedBytes, sink);
}

function isForm({ essence }: MediaType): boolean {
  return essence.startsWith('multipart/');
}

async function decodeForm(
  type: MediaType,
  source: ByteSource,
  sink: ItemSink,
  limits: DecodeLimits,
): Promise<DecodedBody> {
  const parts = await decodeMultipart(source, formBoundary(type), sink, limits.maxParts ?? MAX_PARTS);
  return { parts, items: parts.length };
}

async function decodeLone(
  headers: BodyHeaders,
  type: MediaType,
  source: ByteSource,
  expectedBytes: number | null,
  sink: ItemSink,
): Promise<DecodedBody> {
  let item: PlannedItem | null = null;
  for (let chunk = await source.next(); chunk !== null; chunk = await source.next()) {
    item ??= openLone(headers, type, expectedBytes, sink);
    await item.write(chunk);
  }
  if (item === null) return NOTHING;
  await item.end();
  return { items: 1 };
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
