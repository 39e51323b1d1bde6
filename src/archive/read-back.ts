import { createHash, getFips, hash } from 'node:crypto';
import { type ObjectInfo, type ObjectStore, StoreError } from '../store/object-store.js';

/** The object at a key, read to decide whether a write took effect. */
export interface Found {
  readonly info: ObjectInfo;
  readonly size: number;
  readonly sha256: string;
}

/** Reads and hashes a whole object as a stream; null when it is missing. */
export async function readBack(store: ObjectStore, key: string): Promise<Found | null> {
  const reading = await store.read(key);
  if (reading === null) return null;
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of reading.body as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size += chunk.length;
  }
  if (size !== reading.info.size) {
    throw new StoreError('read', `${key} ended after ${size} of ${reading.info.size} bytes`);
  }
  return { info: reading.info, size, sha256: hash.digest('hex') };
}

/**
 * The object at a key, and whether it holds these bytes: by the store's own figures where they prove it (the size, the SHA-256 it was
 * written with, and the MD5 that the store computed), else by reading it. Null when it is missing.
 */
export async function proveOrReadBack(
  store: ObjectStore,
  key: string,
  { bytes, sha256 }: { readonly bytes: Buffer; readonly sha256: string },
): Promise<Found | null> {
  if (store.headBringsMd5 !== true || getFips() === 1) return readBack(store, key);
  const info = await store.head(key);
  if (info === null) return null;
  const isProven =
    info.size === bytes.length && info.metadata.sha256 === sha256 && info.md5 === hash('md5', bytes, 'hex');
  return isProven ? { info, size: bytes.length, sha256 } : readBack(store, key);
}

/** Whether the key holds exactly those bytes. Reads the object only when its size is right. */
export async function holdsBytes(
  store: ObjectStore,
  key: string,
  expected: { size: number; sha256: string },
): Promise<boolean> {
  const info = await store.head(key);
  if (info === null || info.size !== expected.size) return false;
  return (await readBack(store, key))?.sha256 === expected.sha256;
}
