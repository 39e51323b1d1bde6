import type { DeliveryShape } from '../domain/delivery.js';
import type { DistinctHeaders } from './http/distinct-headers.js';
import type { RequestBody } from './http/request-body.js';

/** A callback as it stands at the door: everything but the body, which is read only when asked for. */
export interface CallbackRequest {
  readonly sourceName: string;
  readonly method: string;
  /** Address of the socket's other end; undefined once it is closed. */
  readonly peer: string | undefined;
  readonly headers: DistinctHeaders;
  /** Query string without its `?`. */
  readonly rawQuery: string;
  /** Size of the body in bytes by its Content-Length; null when it is chunked or has none. */
  readonly declaredLength: number | null;
  /** False when nothing says where the body ends, so that a body cannot be told from none: HTTP/1.0 without a length. */
  readonly isDelimited: boolean;
  /** Starts reading; bytes on the wire are limited to `maxBytes`. To be called at most once. */
  readonly openBody: (maxBytes: number) => RequestBody;
}

export function header(request: CallbackRequest, name: string): string | null {
  return request.headers[name]?.[0] ?? null;
}

/**
 * What was done to a body, first applied first, as a Content-Encoding value: all lines of that header, then the
 * transfer codings other than `chunked`, which Node undoes itself. Null when there is nothing to undo.
 */
export function bodyEncodings(headers: CallbackRequest['headers']): string | null {
  const { 'content-encoding': encodings = [], 'transfer-encoding': codings = [] } = headers;
  const transfer = codings.flatMap((value) => value.split(',')).map((coding) => coding.trim());
  const all = [...encodings, ...transfer.filter((coding) => coding.toLowerCase() !== 'chunked')];
  return all.length === 0 ? null : all.join(', ');
}

/** The shape of the request, as far as its head tells; texts are kept up to 200 characters. */
export function wireShape(request: CallbackRequest): DeliveryShape {
  const contentType = header(request, 'content-type')?.slice(0, MAX_TEXT) ?? null;
  const contentEncoding = bodyEncodings(request.headers)?.slice(0, MAX_TEXT);
  const plain = { contentType, framing: framing(request) };
  return contentEncoding === undefined ? plain : { ...plain, contentEncoding };
}

const MAX_TEXT = 200;

function framing({ headers, declaredLength }: CallbackRequest): DeliveryShape['framing'] {
  if (headers['transfer-encoding'] !== undefined) return 'chunked';
  return declaredLength === null || declaredLength === 0 ? 'none' : 'sized';
}

/** What is worth knowing of a body that could not be decoded; any other header may hold a secret of the submitter. */
const STORABLE = [
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-transfer-encoding',
  'content-type',
  'date',
  'expect',
  'host',
  'transfer-encoding',
  'user-agent',
];

/** The headers that may be stored: well-known ones, and of these none that carries a credential. */
export function storableHeaders(
  request: CallbackRequest,
  credentialHeaders: ReadonlySet<string>,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of STORABLE) {
    const values = request.headers[name];
    if (values !== undefined && !credentialHeaders.has(name)) kept[name] = values.join(', ');
  }
  return kept;
}
