import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import type { HeaderLines } from './object-headers.js';

/*
 * AWS Signature Version 4 for requests with headers, as S3 wants it: the path is encoded once and signed as it is
 * sent. Source: "Authenticating Requests (AWS Signature Version 4)", Amazon S3 API Reference. AWS's own signer is
 * the oracle of its tests; it costs twice as much per request, and at ten kilobytes a callback the signature is the
 * largest single piece of work.
 */

export interface SigningKeyHolder {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

interface UnsignedRequest {
  readonly method: string;
  /** Encoded; begins with `/`. */
  readonly path: string;
  /** Encoded `name=value` pairs, without the `?`; empty for none. */
  readonly query: readonly string[];
  /** `host` and `x-amz-content-sha256` among them or the common ones; all are signed. */
  readonly headers: HeaderLines;
  /** Headers that many requests have. */
  readonly common?: HeaderLines;
}

/** Signs for one region; caches the day's key, which takes four rounds of HMAC to derive. */
export interface S3Signer {
  /** Returns the headers to send: the given ones, date, token and signature. */
  sign(request: UnsignedRequest, holder: SigningKeyHolder, now: Date): string[];
}

export function createS3Signer(region: string): S3Signer {
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
    sign(request, holder, now) {
      const time = timeOf(now);
      const day = time.slice(0, 8);
      const token = holder.sessionToken;
      const given = token === undefined ? NO_LINES : ['x-amz-security-token', token];
      const { headers, common = NO_LINES } = request;
      const lines = headers.concat(common, given, 'x-amz-date', time, 'authorization', '');
      const order = orderOf(lines);
      const scope = `${day}/${region}/s3/aws4_request`;
      const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash('sha256', canonical(request, lines, order), 'hex')}`;
      const signature = hmacOf(keyFor(holder.secretAccessKey, day), text).toString('hex');
      lines[lines.length - 1] =
        `AWS4-HMAC-SHA256 Credential=${holder.accessKeyId}/${scope}, ` +
        `SignedHeaders=${order.signedHeaders}, Signature=${signature}`;
      return lines;
    },
  };
}

const NO_LINES: HeaderLines = [];

let latest = { second: Number.NaN, text: '' };

/** ISO 8601 without separators, to the second; cached, because many requests are signed within one. */
function timeOf(now: Date): string {
  const second = Math.floor(now.getTime() / 1000);
  if (latest.second !== second) latest = { second, text: now.toISOString().replace(/[-:]|\.\d{3}/g, '') };
  return latest.text;
}

/** The order in which header lines are signed. */
interface Order {
  /** Names as they are in the request. */
  readonly names: readonly string[];
  /** Indexes of the signed lines, and what precedes the value of each. */
  readonly signed: readonly { readonly at: number; readonly label: string }[];
  readonly signedHeaders: string;
}

/** Requests have one of a few sets of names. */
let orders: readonly Order[] = [];
const MAX_ORDERS = 100;

function orderOf(lines: HeaderLines): Order {
  for (const order of orders) if (hasNames(lines, order.names)) return order;
  const names = lines.filter((_, at) => at % 2 === 0);
  const indexed = names
    .map((name, n) => ({ name, at: n * 2 }))
    .filter(({ name }) => name !== 'authorization');
  const sorted = indexed.sort((a, b) => (a.name < b.name ? -1 : 1));
  const signed = sorted.map(({ name, at }) => ({ at, label: `\n${name}:` }));
  const order = { names, signed, signedHeaders: sorted.map(({ name }) => name).join(';') };
  orders = orders.length === MAX_ORDERS ? [order] : [...orders, order];
  return order;
}

function hasNames(lines: HeaderLines, names: readonly string[]): boolean {
  if (lines.length !== names.length * 2) return false;
  for (let n = 0; n < names.length; n += 1) if (lines[n * 2] !== names[n]) return false;
  return true;
}

function hmacOf(key: Buffer | KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function canonical({ method, path, query }: UnsignedRequest, lines: HeaderLines, order: Order): string {
  let text = `${method}\n${path}\n${query.length > 1 ? [...query].sort().join('&') : (query[0] ?? '')}`;
  let payload = '';
  for (const { at, label } of order.signed) {
    const value = canonicalValue(lines[at + 1] ?? '');
    text += label + value;
    if (lines[at] === PAYLOAD) payload = value;
  }
  return `${text}\n\n${order.signedHeaders}\n${payload}`;
}

const PAYLOAD = 'x-amz-content-sha256';

/** Trims blanks at the ends and collapses several into one. */
function canonicalValue(value: string): string {
  return /^\s|\s\s|\s$/.test(value) ? value.trim().replace(/\s+/g, ' ') : value;
}
