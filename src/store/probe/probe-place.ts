import type { ObjectHeaders, ObjectStore, PendingUpload } from '../object-store.js';

/** Where the probe writes, and what it removes afterwards. */
export interface ProbePlace {
  readonly store: ObjectStore;
  /** Ends in `/`. */
  readonly folder: string;
  readonly headers: ObjectHeaders;
  newKey(name: string): string;
  /** What `newKey` gave. */
  readonly keys: readonly string[];
  readonly uploads: PendingUpload[];
}

/** More than any probe has: a listing without end must not fill the memory. */
const MOST_LISTED = 1_000;

export async function collected<T>(listing: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of listing) if (found.push(each) >= MOST_LISTED) break;
  return found;
}
