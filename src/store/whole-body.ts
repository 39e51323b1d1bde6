import { type Readable, Transform } from 'node:stream';
import { StoreError } from './object-store.js';

/**
 * Passes on the bytes of an object. When the source breaks or ends early, the result ends with a `StoreError`, never with a clean end.
 * Destroying the result destroys the source.
 *
 * @param expected number of bytes
 * @param toStoreError turns an error of the source into a `StoreError`
 */
export function wholeBody(
  source: Readable,
  expected: number,
  key: string,
  toStoreError: (error: unknown) => StoreError,
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
  source.on('error', (error) => counted.destroy(toStoreError(error)));
  source.once('close', () => {
    if (!source.readableEnded) counted.destroy(early());
  });
  counted.once('close', () => source.destroy());
  // Without a listener an error that comes before the reader attaches would end the process.
  counted.on('error', () => undefined);
  return source.pipe(counted);
}
