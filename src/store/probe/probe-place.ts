import type { ObjectHeaders, ObjectStore, PendingUpload } from '../object-store.js';

/** The folder that the probe writes to, and what it must remove afterwards. */
export interface ProbePlace {
  readonly store: ObjectStore;
  /** Ends in `/`. */
  readonly folder: string;
  readonly headers: ObjectHeaders;
  newKey(name: string): string;
  /** Keys that `newKey` returned. */
  readonly keys: readonly string[];
  readonly uploads: PendingUpload[];
}

/** More than any probe creates: an endless listing must not fill the memory. */
const MAX_LISTED = 1_000;

export async function collected<T>(listing: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of listing) if (found.push(each) >= MAX_LISTED) break;
  return found;
}
