import type { Readable } from 'node:stream';
import { StoreError } from './object-store.js';

/** The bytes of an object, without the copy of `node:stream/consumers` by way of a Blob. Throws `StoreError` when the store breaks off. */
export async function readToEnd(key: string, body: Readable): Promise<Buffer> {
  try {
    return Buffer.concat(await body.toArray());
  } catch (cause) {
    throw new StoreError('read', `${key} could not be read to its end`, { cause });
  }
}
