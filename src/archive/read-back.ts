import { createHash } from 'node:crypto';
import {
  type ObjectInfo,
  type ObjectReading,
  type ObjectStore,
  UnrestoredObjectError,
} from '../store/object-store.js';

/** The object at a key, which is read to decide whether a write took effect. */
export interface StoredObject {
  readonly info: ObjectInfo;
  readonly size: number;
  readonly sha256: string;
}

/** Reads and hashes a whole object as a stream; null when it is missing. */
export async function readBack(store: ObjectStore, key: string): Promise<StoredObject | null> {
  const reading = await store.read(key);
  return reading && { info: reading.info, ...(await hashBody(reading)) };
}

/**
 * Like `readBack`, but for an object that must be restored first, returns the hash from its metadata. A streamed object has none there:
 * its hash is empty, which equals no other.
 */
export async function readBackOrDescribe(store: ObjectStore, key: string): Promise<StoredObject | null> {
  try {
    return await readBack(store, key);
  } catch (error) {
    if (!(error instanceof UnrestoredObjectError)) throw error;
    const info = await store.head(key);
    return info && { info, size: info.size, sha256: info.metadata.sha256 ?? '' };
  }
}

/** Size and hash of an object. @param onRead called with the bytes of each chunk */
export async function hashBody(
  { body }: Pick<ObjectReading, 'body'>,
  onRead: (bytes: number) => void = () => {},
): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size += chunk.length;
    onRead(chunk.length);
  }
  return { size, sha256: hash.digest('hex') };
}

/** Whether the object at a key has exactly these bytes. Reads the object only when its size matches. */
export async function holdsBytes(
  store: ObjectStore,
  key: string,
  expected: { size: number; sha256: string },
): Promise<boolean> {
  const info = await store.head(key);
  if (info === null || info.size !== expected.size) return false;
  return (await readBackOrDescribe(store, key))?.sha256 === expected.sha256;
}
