import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../lib/time/clock.js';
import { SpeechError } from '../speech-error.js';
import { networkError } from './network-error.js';

/** A response body. The caller reads it to its end or destroys it. */
export interface Download {
  /**
   * Ends only when the whole body has arrived; otherwise it fails with a `SpeechError` of kind `truncated`,
   * `network`, `timeout` or `aborted`. A slow reader causes no time-out.
   */
  readonly body: Readable;
  /** Type as sent by the service, for information; the request determines the format. */
  readonly contentType: string | null;
  /** Bytes to come; null when sent in chunks of unknown total. */
  readonly size: number | null;
}

/** Slowest rate at which a body may arrive. */
export interface Pace {
  readonly clock: Clock;
  readonly minBytesPerSecond: number;
  /** Milliseconds of waiting for the service over which the rate is judged. */
  readonly window: number;
}

/**
 * Wraps an answer's body so that its end proves its completeness. Rejects with `invalid-response` what cannot be the whole body
 * requested: any status but 200, an encoded body, one that is only ended by its connection.
 */
export function openDownload(
  operation: string,
  response: Dispatcher.ResponseData,
  pace: Pace,
  signal?: AbortSignal,
): Download {
  const { statusCode: status, headers, body: source } = response;
  const refusal = refusalOf(response);
  if (refusal !== null) {
    source.on('error', () => {}).destroy();
    throw new SpeechError('invalid-response', operation, refusal, { status });
  }
  const length = firstValue(headers['content-length']);
  const size = length === undefined ? null : Number(length);
  return {
    body: verified({ operation, source, size, pace, signal }),
    contentType: firstValue(headers['content-type']) ?? null,
    size,
  };
}

/** Requests ask for `identity` and no range, so a compressed or partial response does not come from the service. */
function refusalOf({ statusCode, headers }: Dispatcher.ResponseData): string | null {
  if (statusCode !== 200) return `answered ${statusCode}; only 200 brings a whole body`;
  const encoding = firstValue(headers['content-encoding'])?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity') return 'the body is compressed, which was not asked for';
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return null;
  return 'the answer does not say where its body ends';
}

interface Source {
  readonly operation: string;
  readonly source: Readable;
  readonly size: number | null;
  readonly pace: Pace;
  readonly signal: AbortSignal | undefined;
}

/** Reads from the service only as far as the caller reads, so that a slow service can be distinguished from a slow reader. */
function verified({ operation, source, size, pace, signal }: Source): Readable {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const isTooSlow = slownessMeter(pace);
  let received = 0;
  const truncated = () =>
    new SpeechError('truncated', operation, `the body ended after ${received} of ${size ?? 'unknown'} bytes`);

  async function next(): Promise<Buffer | null> {
    const asked = pace.clock.now();
    const { value, done } = await chunks.next();
    if (done) {
      if (size !== null && received !== size) throw truncated();
      return null;
    }
    received += value.length;
    if (isTooSlow(pace.clock.now() - asked, value.length)) {
      throw new SpeechError('timeout', operation, tooSlow(pace));
    }
    return value;
  }

  function failure(error: unknown): SpeechError {
    const mapped = networkError(operation, error, signal);
    // A connection that breaks within a body is a truncation, whatever code the socket reports.
    return mapped.kind === 'network' ? truncated() : mapped;
  }

  const body: Readable = new Readable({
    read() {
      next().then(
        (chunk) => body.push(chunk),
        (error: unknown) => body.destroy(failure(error)),
      );
    },
    destroy(error, done) {
      source.on('error', () => {}).destroy();
      done(error);
    },
  });
  return body;
}

/** Returns a function that takes each chunk's wait and length, and reports whether a window fell below the minimum rate. */
export function slownessMeter({ minBytesPerSecond, window }: Pace) {
  let waited = 0;
  let bytes = 0;
  return (waitedMs: number, length: number): boolean => {
    waited += waitedMs;
    bytes += length;
    if (waited < window) return false;
    const slow = bytes < (minBytesPerSecond * waited) / 1000;
    waited = 0;
    bytes = 0;
    return slow;
  };
}

export function tooSlow({ minBytesPerSecond }: Pace): string {
  return `the body came more slowly than ${minBytesPerSecond} bytes per second`;
}

export function firstValue(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
