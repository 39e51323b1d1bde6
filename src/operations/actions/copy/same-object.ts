import { readBack } from '../../../archive/read-back.js';
import type { ListedObject, ObjectStore } from '../../../store/object-store.js';
import type { BetweenStores } from './copy-between.js';
import type { KeyPair } from './pair-keys.js';

type TwoStores = Pick<BetweenStores, 'from' | 'to'>;

/** Milliseconds by which the clock of a store may be off. */
const CLOCK_TOLERANCE = 300_000;

/**
 * Whether the copy of an object is up to date. Objects not written since they were copied are compared by size only, others by the hashes
 * that the stores have, or by their bytes. Throws `StoreError`.
 */
export async function isSame(stores: TwoStores, { key, source, copy }: KeyPair): Promise<boolean> {
  if (source === null || copy === null || source.size !== copy.size) return false;
  if (timeOf(stores.from, source) < timeOf(stores.to, copy) - CLOCK_TOLERANCE) return true;
  return source.size === 0 || (await hasSameHash(stores, key)) || (await hasSameBytes(stores, key));
}

/** Compares hashes without reading. A hash in the metadata was compared with the bytes when they were copied. */
async function hasSameHash({ from, to }: TwoStores, key: string): Promise<boolean> {
  const [source, copy] = await Promise.all([from.head(key), to.head(key)]);
  if (source === null || copy === null || source.size !== copy.size) return false;
  const { sha256 } = source.metadata;
  if (sha256 !== undefined && copy.metadata.sha256 !== undefined) return sha256 === copy.metadata.sha256;
  return source.md5 !== undefined && source.md5 === copy.md5;
}

/** Whether the bytes are the same, by reading both. Throws `StoreError`. */
export async function hasSameBytes({ from, to }: TwoStores, key: string): Promise<boolean> {
  const [source, copy] = await Promise.all([readBack(from, key), readBack(to, key)]);
  return source !== null && source.sha256 === copy?.sha256;
}

function timeOf(store: ObjectStore, { modifiedAt }: ListedObject): number {
  return modifiedAt.getTime() - store.clockOffset();
}
