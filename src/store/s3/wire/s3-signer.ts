import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import { S3Failure } from '../s3-failure.js';
import type { SentHeaders } from './object-headers.js';

/*
 * AWS Signature Version 4 for requests with headers, as S3 wants it: the path is encoded once and signed as it is
 * sent. Source: "Authenticating Requests (AWS Signature Version 4)", Amazon S3 API Reference. AWS's own signer is
 * the oracle of its tests; it costs twice as much per request, a tenth of the CPU of a small callback.
 */

export interface SigningKeyHolder {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

interface UnsignedRequest {
  readonly method: string;
  /** Encoded; begins with `/`. */
  readonly path: string;
  /** Encoded `name=value` pairs, without the `?`; empty for none. */
  readonly query: readonly string[];
  /** Must include `host` and `x-amz-content-sha256`; all are signed. Date, token and signature are added to this object. */
  readonly headers: Record<string, string>;
}

/** Signs for one region; caches the day's key, which takes four rounds of HMAC to derive. */
export function createS3Signer(region: string) {
  let derived: { readonly secret: string; readonly day: string; readonly key: KeyObject } | null = null;

  function keyFor(secret: string, day: string): KeyObject {
    if (derived?.secret === secret && derived.day === day) return derived.key;
    const key = createSecretKey(
      [day, region, 's3', 'aws4_request'].reduce(hmacOf, Buffer.from(`AWS4${secret}`)),
    );
    derived = { secret, day, key };
    return key;
  }

  return {
    /** Returns the headers to send. */
    sign(
      request: UnsignedRequest,
      { accessKeyId, secretAccessKey, sessionToken: token }: SigningKeyHolder,
      now: Date,
    ): SentHeaders {
      const iso = now.toISOString();
      const day = iso.slice(0, 4) + iso.slice(5, 7) + iso.slice(8, 10);
      const time = `${day}T${iso.slice(11, 13)}${iso.slice(14, 16)}${iso.slice(17, 19)}Z`;
      const scope = `${day}/${region}/s3/aws4_request`;
      const { headers } = request;
      // Left by an earlier attempt, which may have had other credentials.
      delete headers.authorization;
      delete headers['x-amz-security-token'];
      headers['x-amz-date'] = time;
      if (token !== undefined) headers['x-amz-security-token'] = token;
      const order = orderOf(Object.keys(headers));
      const canonical = canonicalRequest(request, order);
      const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash('sha256', canonical, 'hex')}`;
      const signature = createHmac('sha256', keyFor(secretAccessKey, day)).update(text).digest('hex');
      headers.authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${order.signedHeaders}, Signature=${signature}`;
      return headers;
    },
  };
}

function hmacOf(key: Buffer | KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** The order in which headers are signed. */
interface Order {
  readonly names: readonly string[];
  /** Text before the value of each header. */
  readonly labels: readonly { readonly name: string; readonly label: string }[];
  readonly signedHeaders: string;
}

/** Cached orders of the few kinds of requests: sorting for each request would be a twentieth of a callback's allocations. */
let orders: readonly Order[] = [];
const MAX_ORDERS = 100;

function orderOf(names: readonly string[]): Order {
  for (const order of orders) if (isEqual(order.names, names)) return order;
  const sorted = names.toSorted();
  const labels = sorted.map((name) => ({ name, label: `\n${name}:` }));
  const order = { names, labels, signedHeaders: sorted.join(';') };
  orders = orders.length === MAX_ORDERS ? [order] : [...orders, order];
  return order;
}

function isEqual(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((name, index) => name === others[index]);
}

function canonicalRequest(
  { method, path, query, headers }: UnsignedRequest,
  { labels, signedHeaders }: Order,
): string {
  let text = `${method}\n${path}\n${[...query].sort().join('&')}`;
  for (const { name, label } of labels) text += label + canonicalValue(headers[name] ?? '');
  return `${text}\n\n${signedHeaders}\n${headers['x-amz-content-sha256']}`;
}

/** Trims blanks at the ends and collapses several into one. */
function canonicalValue(value: string): string {
  return /\s/.test(value) ? value.trim().replace(/\s+/g, ' ') : value;
}

/** Encodes a key as signatures require: percent-encoded UTF-8 except for unreserved characters and `/`. */
export function encodeKey(key: string): string {
  return /^[A-Za-z0-9_.~/-]*$/.test(key) ? key : key.split('/').map(encodeSegment).join('/');
}

function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Encoded `name=value` pairs. */
export function encodedQuery(query: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(query).map(([name, value]) => `${encodeSegment(name)}=${encodeSegment(value)}`);
}

/** S3 rejects requests signed more than 15 minutes away from its own time. */
const SKEWED = new Set(['RequestTimeTooSkewed', 'RequestExpired', 'RequestInTheFuture']);

/** The one code of these that is retried. */
const RETRIED = 'RequestTimeTooSkewed';

/** Below this difference the clock is not the reason for the rejection. */
const WORTH_CORRECTING_MS = 60_000;

export type ServerClock = ReturnType<typeof createServerClock>;

/**
 * The clock that requests are signed with: this machine's, until the server rejects it.
 *
 * @param onNotice called with a message each time the clock is corrected; the correction stays
 */
export function createServerClock(onNotice?: (message: string) => void) {
  let offset = 0;
  let ahead = 0;
  let observed = '';

  function observe(date = ''): void {
    // Skips equal dates: a busy replica gets hundreds of answers per second.
    if (date === observed) return;
    observed = date;
    const time = Date.parse(date);
    if (!Number.isNaN(time)) ahead = time - Date.now();
  }

  function correct({ code, serverTime }: S3Failure, used: number): boolean {
    if (serverTime !== null) ahead = serverTime - Date.now();
    if (!SKEWED.has(code)) return false;
    if (offset !== used) return true;
    const found = serverTime === null ? used : serverTime - Date.now();
    if (Math.abs(found - used) < WORTH_CORRECTING_MS) return false;
    offset = found;
    onNotice?.(noticeOf(found));
    return true;
  }

  return {
    /** Milliseconds that are added to this machine's time. */
    get offset(): number {
      return offset;
    },
    /** Milliseconds by which the server's clock was ahead of this machine's at its last answer; 0 before the first. */
    get ahead(): number {
      return ahead;
    },
    /** Takes the `Date` of an answer. */
    observe,
    /**
     * Corrects the offset after a failed request. Returns the failure to report; it is retryable when another attempt would be signed with
     * a different time.
     *
     * @param used the offset that it was signed with
     */
    corrected: (failure: S3Failure, used: number) =>
      correct(failure, used) ? new S3Failure({ ...failure, code: RETRIED }) : failure,
  };
}

function noticeOf(offset: number): string {
  if (Math.abs(offset) < WORTH_CORRECTING_MS)
    return "this machine's clock agrees with the store's again; requests are signed with its time from now on.";
  const seconds = Math.round(Math.abs(offset) / 1000);
  return (
    `this machine's clock is ${seconds} s ${offset < 0 ? 'ahead of' : 'behind'} the store's; ` +
    "requests are signed with the store's time from now on. Set the clock: the ledger is not written with one that is more than " +
    'five minutes off, and credentials depend on it.'
  );
}
