import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { StoreError } from './object-store.js';

/** The bytes of an object. Throws `StoreError` when the store breaks off. */
export async function readToEnd(key: string, body: Readable): Promise<Buffer> {
  try {
    return await buffer(body);
  } catch (cause) {
    throw new StoreError('read', `${key} could not be read to its end`, { cause });
  }
}
