/** Why a body could not be decoded: stable codes for ledger lines, quarantine and metrics. */
export const UNDECODABLE_REASONS = [
  'json-invalid',
  'multipart-unsupported',
  'multipart-boundary',
  'multipart-header',
  'multipart-unterminated',
  'multipart-unaccounted',
  'too-many-parts',
  'encoding-unsupported',
  'encoding-corrupt',
  // The quarantined objects no longer have the bytes that arrived.
  'request-damaged',
  'body-damaged',
] as const;
export type UndecodableReason = (typeof UNDECODABLE_REASONS)[number];

/**
 * The body is complete but is not what its headers declare; its raw bytes go to quarantine. The message quotes
 * nothing of the body, so that it can be shown to the sender.
 */
export class UndecodableError extends Error {
  readonly reason: UndecodableReason;

  constructor(reason: UndecodableReason, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'UndecodableError';
    this.reason = reason;
  }
}

/**
 * The encoding of the body makes a few bytes expensive to decode. The body is rejected and not kept. The message can be shown to the
 * sender.
 */
export class EncodingRefusedError extends Error {
  override readonly name = 'EncodingRefusedError';
}

/** The body, as received or decoded, is larger than `limit` bytes. */
export class BodyTooLargeError extends Error {
  readonly limit: number;

  constructor(limit: number) {
    super(`The body is larger than ${limit} bytes`);
    this.name = 'BodyTooLargeError';
    this.limit = limit;
  }
}
