import { type Readable, Transform } from 'node:stream';
import { StoreError } from './object-store.js';

/**
 * The bytes of an object, or a `StoreError`: what breaks or ends early must not look like the end of the object, and is
 * the store's trouble, not a bug. A reader who stops half-way destroys the source as well.
 *
 * @param expected bytes that should come
 * @param trouble makes a `StoreError` of what the source fails with
 */
export function wholeBody(
  source: Readable,
  expected: number,
  key: string,
  trouble: (error: unknown) => StoreError,
): Readable {
  let received = 0;
  const early = () => new StoreError('read', `${key} ended after ${received} of ${expected} bytes`);
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      done(null, chunk);
    },
    flush(done) {
      if (received === expected) done();
      else done(early());
    },
  });
  source.on('error', (error) => counted.destroy(trouble(error)));
  source.once('close', () => {
    if (!source.readableEnded) counted.destroy(early());
  });
  counted.once('close', () => source.destroy());
  // A reader learns of it through its own listener; while there is none yet it must not end the process.
  counted.on('error', () => undefined);
  return source.pipe(counted);
}
