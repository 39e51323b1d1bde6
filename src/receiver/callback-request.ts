import type { DeliveryShape } from '../domain/delivery.js';
import type { RequestBody } from './request-body.js';

/** A callback as it stands at the door: everything but the body, which is read only when asked for. */
export interface CallbackRequest {
  readonly sourceName: string;
  readonly method: string;
  /** Address of the socket's other end; undefined once it is closed. */
  readonly peer: string | undefined;
  /** Header values by lower-case name, repetitions kept apart. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** Query string without its `?`. */
  readonly rawQuery: string;
  /** Starts reading; bytes on the wire are limited to `maxBytes`. To be called at most once. */
  readonly openBody: (maxBytes: number, declared: number | null) => RequestBody;
}

export function header(request: CallbackRequest, name: string): string | null {
  return request.headers[name]?.[0] ?? null;
}

/** Declared size of the body in bytes, or null when it is chunked or has none. */
export function declaredLength(request: CallbackRequest): number | null {
  const text = header(request, 'content-length');
  return text === null ? null : Number(text);
}

/**
 * What was done to the body, first applied first, as a Content-Encoding value: all lines of that header, then the
 * transfer codings other than `chunked`, which Node undoes itself. Null when there is nothing to undo.
 */
export function bodyEncodings(request: CallbackRequest): string | null {
  const { 'content-encoding': encodings = [], 'transfer-encoding': codings = [] } = request.headers;
  const transfer = codings.flatMap((value) => value.split(',')).map((coding) => coding.trim());
  const all = [...encodings, ...transfer.filter((coding) => coding.toLowerCase() !== 'chunked')];
  return all.length === 0 ? null : all.join(', ');
}

export function framing(request: CallbackRequest): DeliveryShape['framing'] {
  if (request.headers['transfer-encoding'] !== undefined) return 'chunked';
  const length = declaredLength(request);
  return length === null || length === 0 ? 'none' : 'sized';
}

/** Header names that carry secrets by convention, whatever a source's credentials are called. */
const ALWAYS_SECRET = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-api-key',
  'x-amz-security-token',
]);

/** Headers fit to be stored: without those that carry credentials. */
export function storableHeaders(
  request: CallbackRequest,
  credentialHeaders: ReadonlySet<string>,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, values] of Object.entries(request.headers)) {
    if (values === undefined || ALWAYS_SECRET.has(name) || credentialHeaders.has(name)) continue;
    kept[name] = values.join(', ');
  }
  return kept;
}
