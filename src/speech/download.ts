import { type Readable, Transform } from 'node:stream';
import type { Dispatcher } from 'undici';
import { single } from './answer-error.js';
import { networkError } from './network-error.js';
import { SpeechError } from './speech-error.js';

/** A body on its way. The caller reads it to its end or destroys it. */
export interface Download {
  /**
   * Ends only when all of the body has come; otherwise it fails with a `SpeechError` of kind `truncated`,
   * `network`, `timeout` or `aborted`. Reading slowly is no time-out.
   */
  readonly body: Readable;
  /** As the service says, for information; what the bytes are follows from what was asked for. */
  readonly contentType: string | null;
  /** Bytes to come; null when sent in chunks of unknown total. */
  readonly size: number | null;
}

/**
 * Wraps an answer's body so that its end proves its completeness. A body that just ends with its connection
 * proves nothing and is refused.
 */
export function openDownload(
  operation: string,
  response: Dispatcher.ResponseData,
  signal?: AbortSignal,
): Download {
  const { headers, body: source } = response;
  const length = single(headers['content-length']);
  const size = length === undefined ? null : Number(length);
  if (size === null && headers['transfer-encoding'] === undefined) {
    source.on('error', () => {}).destroy();
    throw new SpeechError('invalid-response', operation, 'the answer does not say where its body ends');
  }
  return {
    body: verified(operation, source, size, signal),
    contentType: single(headers['content-type']) ?? null,
    size,
  };
}

function verified(operation: string, source: Readable, size: number | null, signal?: AbortSignal): Readable {
  let received = 0;
  const truncated = () =>
    new SpeechError('truncated', operation, `the body ended after ${received} of ${size ?? 'unknown'} bytes`);
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      done(null, chunk);
    },
    flush: (done) => done(size !== null && received !== size ? truncated() : null),
    destroy(error, done) {
      source.destroy();
      done(error);
    },
  });
  source.on('error', (error) => {
    const mapped = networkError(operation, error, signal);
    // A connection that breaks within a body is a truncation, whatever the socket calls it.
    body.destroy(mapped.kind === 'network' ? truncated() : mapped);
  });
  source.on('close', () => {
    if (!source.readableEnded) body.destroy(truncated());
  });
  return source.pipe(body);
}
