import { timingSafeEqual } from 'node:crypto';
import type { ReceiverEvent } from './receiver-event.js';
import { secretKeys, signatureOf } from './sign.js';

export type EventVerificationErrorCode =
  | 'header-missing'
  | 'header-repeated'
  | 'timestamp-invalid'
  | 'timestamp-too-old'
  | 'timestamp-too-new'
  | 'signature-mismatch'
  | 'body-invalid';

/** The request is not an event of the receiver, or not a fresh one: answer it with 400 or 401. */
export class EventVerificationError extends Error {
  override readonly name = 'EventVerificationError';
  readonly code: EventVerificationErrorCode;

  constructor(code: EventVerificationErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface SignatureOptions {
  /** Largest difference between the timestamp and this machine's clock. Default 300. */
  readonly toleranceSeconds?: number;
  /** For tests. */
  readonly now?: () => Date;
}

/** Headers as Node, Express (`request.headers`) and the Fetch API (`request.headers`) hold them. */
export type EventHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies the signature of an event as Standard Webhooks asks, and parses it.
 *
 * @param rawBody the body exactly as it arrived: JSON that was parsed and serialised again has another signature
 * @param secrets each `whsec_` and base64; any of them may have signed, so that a secret can be rotated
 * @throws EventVerificationError when the request must be rejected
 * @throws TypeError for a mistake of the caller: a malformed secret, or a body that is not raw
 */
export function verify(
  rawBody: string | Uint8Array,
  headers: EventHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = () => new Date() }: SignatureOptions = {},
): ReceiverEvent {
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array)) {
    throw new TypeError('The body must be the raw string or bytes, not parsed JSON.');
  }
  const keys = secretKeys(secrets);
  const id = header(headers, 'webhook-id');
  const timestamp = header(headers, 'webhook-timestamp');
  const given = signaturesIn(header(headers, 'webhook-signature'));
  checkTimestamp(timestamp, toleranceSeconds, now());
  // Every key is compared with every signature, so that the time does not depend on which of them match.
  const matches = keys.flatMap((key) => {
    const expected = signatureOf(key, id, timestamp, rawBody);
    return given.filter((each) => each.length === expected.length && timingSafeEqual(each, expected));
  });
  if (matches.length === 0) {
    throw new EventVerificationError(
      'signature-mismatch',
      'No signature matches: another secret signed the event, or its body was changed on the way.',
    );
  }
  return parseEvent(rawBody);
}

function header(headers: EventHeaders, name: string): string {
  const value = isFetchHeaders(headers) ? headers.get(name) : valueIn(headers, name);
  if (value === null || value === undefined || value === '') {
    throw new EventVerificationError('header-missing', `The header ${name} is missing.`);
  }
  if (typeof value === 'string') return value;
  const [only, ...others] = value;
  if (only !== undefined && others.length === 0) return only;
  throw new EventVerificationError('header-repeated', `The header ${name} occurs ${value.length} times.`);
}

function isFetchHeaders(headers: EventHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

function valueIn(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  name: string,
): string | readonly string[] | undefined {
  const found = Object.keys(headers).find((each) => each.toLowerCase() === name);
  return found === undefined ? undefined : headers[found];
}

/** The signatures of version 1; a space separates several, and other versions are left out. */
function signaturesIn(value: string): Buffer[] {
  return value.split(' ').flatMap((each) => {
    const [version, signature] = each.split(',');
    return version === 'v1' && signature !== undefined ? [Buffer.from(signature, 'base64')] : [];
  });
}

function checkTimestamp(timestamp: string, tolerance: number, now: Date): void {
  if (!/^\d{1,15}$/.test(timestamp)) {
    throw new EventVerificationError('timestamp-invalid', 'webhook-timestamp is not a number of seconds.');
  }
  const age = Math.floor(now.getTime() / 1000) - Number(timestamp);
  if (age > tolerance) {
    throw new EventVerificationError('timestamp-too-old', `The event was signed ${age} s ago.`);
  }
  if (-age > tolerance) {
    throw new EventVerificationError('timestamp-too-new', `The event was signed ${-age} s in the future.`);
  }
}

function parseEvent(rawBody: string | Uint8Array): ReceiverEvent {
  let event: Partial<ReceiverEvent> | null;
  try {
    event = JSON.parse(typeof rawBody === 'string' ? rawBody : Buffer.from(rawBody).toString('utf8'));
  } catch (error) {
    throw new EventVerificationError('body-invalid', 'The body is not JSON.', { cause: error });
  }
  if (event?.specversion === '1.0' && typeof event.id === 'string' && typeof event.type === 'string') {
    return event as ReceiverEvent;
  }
  throw new EventVerificationError('body-invalid', 'The body is not a CloudEvent 1.0.');
}
