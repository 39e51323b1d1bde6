import type { RequestBody } from '../lib/http/request-body.js';

/** Header values by lower-case name, every occurrence by itself, in the order they came. */
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
  /** False when nothing says where the body ends: HTTP/1.0 without a length. */
  readonly isDelimited: boolean;
  /** Whether its connection has closed; a sender that hung up behind unread data is not noticed. */
  readonly isGone: () => boolean;
  /** Whether the body has arrived, or as much of it as its connection holds: receiving it does not wait for its sender. */
  readonly hasArrived: () => boolean;
  /** Starts reading; at most `maxBytes` are accepted on the wire. Must be called at most once. */
  readonly openBody: (maxBytes: number) => RequestBody;
}
