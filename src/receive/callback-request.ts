import type { RequestBody } from '../lib/http/request-body.js';

/** Header values by lower-case name, one for each occurrence, in their order. */
export type RequestHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** A callback without its transport: everything but the body, which is read only after `openBody`. */
export interface CallbackRequest {
  readonly sourceName: string;
  readonly method: string;
  /** Address of the socket's peer; undefined once it is closed. */
  readonly peer: string | undefined;
  readonly headers: RequestHeaders;
  /** Query string without its `?`. */
  readonly rawQuery: string;
  /** Size of the body in bytes by its Content-Length; null when it is chunked or has none. */
  readonly declaredLength: number | null;
  /** False when the end of the body is not marked: HTTP/1.0 without a length. */
  readonly isDelimited: boolean;
  /** Whether the connection has closed. A close behind unread data is not noticed. */
  readonly isGone: () => boolean;
  /** Whether the body has arrived, or as much of it as the connection buffers, so that receiving it does not wait for the sender. */
  readonly hasArrived: () => boolean;
  /** Starts reading; at most `maxBytes` are accepted on the wire. Must be called at most once. */
  readonly openBody: (maxBytes: number) => RequestBody;
}
