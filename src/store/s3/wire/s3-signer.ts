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

export interface UnsignedRequest {
  readonly method: string;
  /** Encoded; begins with `/`. */
  readonly path: string;
  /** Encoded `name=value` pairs, without the `?`; empty for none. */
  readonly query: readonly string[];
  /** `host` and `x-amz-content-sha256` among them; all are signed. */
  readonly headers: HeaderLines;
}

/** Signs for one region; caches the day's key, which takes four rounds of HMAC to derive. */
export interface S3Signer {
  /** Returns the headers to send: the given ones, date, token and signature. */
  sign(request: UnsignedRequest, holder: SigningKeyHolder, now: Date): string[];
}

export function createS3Signer(region: string): S3Signer {
  let derived: { readonly secret: string; readonly day: string; readonly key: KeyObject } | null = null;

  /** A KeyObject: for a plain Buffer, Node 24 makes two errors with stacks before it takes the bytes. */
  function keyFor(secret: string, day: string): KeyObject {
    if (derived?.secret === secret && derived.day === day) return derived.key;
    const key = createSecretKey(
      [day, region, 's3', 'aws4_request'].reduce(hmac, Buffer.from(`AWS4${secret}`)),
    );
    derived = { secret, day, key };
    return key;
  }

  return {
    sign(request, holder, now) {
      const time = timeOf(now);
      const day = time.slice(0, 8);
      const lines = request.headers.concat('x-amz-date', time);
      if (holder.sessionToken !== undefined) lines.push('x-amz-security-token', holder.sessionToken);
      const order = orderOf(lines);
      const scope = `${day}/${region}/s3/aws4_request`;
      const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash('sha256', canonical(request, lines, order), 'hex')}`;
      const signature = createHmac('sha256', keyFor(holder.secretAccessKey, day)).update(text).digest('hex');
      lines.push(
        'authorization',
        `AWS4-HMAC-SHA256 Credential=${holder.accessKeyId}/${scope}, ` +
          `SignedHeaders=${order.signedHeaders}, Signature=${signature}`,
      );
      return lines;
    },
  };
}

let latest = { second: Number.NaN, text: '' };

/** ISO 8601 without separators, to the second; cached, because many requests are signed within one. */
function timeOf(now: Date): string {
  const second = Math.floor(now.getTime() / 1000);
  if (latest.second !== second) latest = { second, text: now.toISOString().replace(/[-:]|\.\d{3}/g, '') };
  return latest.text;
}

/** The order in which header lines are signed. */
interface Order {
  /** Indexes of the names. */
  readonly at: readonly number[];
  readonly signedHeaders: string;
}

/** By the names of the headers: requests have one of a few sets of them. */
const orders = new Map<string, Order>();
const MAX_ORDERS = 100;

function orderOf(lines: HeaderLines): Order {
  let names = '';
  for (let at = 0; at < lines.length; at += 2) names += `${lines[at]};`;
  const known = orders.get(names);
  if (known !== undefined) return known;
  const nameAt = (at: number): string => lines[at] ?? '';
  const at = Array.from({ length: lines.length / 2 }, (_, n) => n * 2);
  at.sort((a, b) => (nameAt(a) < nameAt(b) ? -1 : 1));
  const order = { at, signedHeaders: at.map(nameAt).join(';') };
  if (orders.size === MAX_ORDERS) orders.clear();
  orders.set(names, order);
  return order;
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function canonical({ method, path, query }: UnsignedRequest, lines: HeaderLines, order: Order): string {
  let signed = '';
  let payload = '';
  for (const at of order.at) {
    const value = canonicalValue(lines[at + 1] ?? '');
    signed += `${lines[at]}:${value}\n`;
    if (lines[at] === 'x-amz-content-sha256') payload = value;
  }
  const sorted = query.length > 1 ? [...query].sort() : query;
  return `${method}\n${path}\n${sorted.join('&')}\n${signed}\n${order.signedHeaders}\n${payload}`;
}

/** Trims blanks at the ends and collapses several into one. */
function canonicalValue(value: string): string {
  return /^\s|\s\s|\s$/.test(value) ? value.trim().replace(/\s+/g, ' ') : value;
}
