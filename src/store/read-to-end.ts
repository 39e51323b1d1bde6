import type { Readable } from 'node:stream';
import { type ObjectStore, StoreError } from './object-store.js';

/** The bytes of an object. Throws `StoreError` when the body breaks off. Copies less than `node:stream/consumers`, which uses a Blob. */
export async function readToEnd(key: string, body: Readable): Promise<Buffer> {
  try {
    return Buffer.concat(await body.toArray());
  } catch (cause) {
    throw new StoreError('read', `${key} could not be read to its end`, { cause });
  }
}

/** The text of an object, or of a range of it; null when it is missing. */
export async function readText(
  store: Pick<ObjectStore, 'read'>,
  key: string,
  range?: Parameters<ObjectStore['read']>[1],
): Promise<string | null> {
  const reading = await store.read(key, range);
  return reading && (await readToEnd(key, reading.body)).toString();
}
