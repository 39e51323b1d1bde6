import { readStoreLocation } from '../lib/text/store-location.js';
import { assertFolderMayBegin, findStore } from './file/file-root.js';
import { STORE_MARKER } from './object-key.js';
import { type ObjectStore, StoreError, StoreGoneError, UnmarkedStoreError } from './object-store.js';
import type { S3Settings } from './s3/s3-options.js';

/** Large enough that 10,000 parts carry 78 GiB, small enough for many uploads in one memory budget. */
const DEFAULT_PART_SIZE = 8 * 1024 * 1024;

/** Minimum of S3 for all parts but the last; in bytes. */
export const MIN_S3_PART = 5 * 1024 * 1024;
/** S3 allows 5 GiB, but a part is one buffer, and the memory budget has to hold three. */
const MAX_S3_PART = 1024 * 1024 * 1024;

export interface StoreOptions {
  /** `file:./data`, `file:/var/data`, `file:///var/data` or `s3://bucket/optional/prefix`. */
  readonly url: string;
  /** Bytes per part of an upload, 5 MiB to 1 GiB for S3. Default 8 MiB. */
  readonly partSize?: number | undefined;
  /** Id that the store must have; null or absent: any. */
  readonly id?: string | null | undefined;
  readonly s3?: S3Settings | undefined;
  /** File store only: false gives up durability across power loss. Default true. */
  readonly fsync?: boolean | undefined;
  /** Called with messages for the operator that are no failures, such as a wrong clock. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

/**
 * Opens the store that a URL names, without a request to it; see `probeStore`.
 *
 * @throws StoreError when the URL, the part size or the region is unusable
 */
export async function openStore(options: StoreOptions): Promise<ObjectStore> {
  const { partSize = DEFAULT_PART_SIZE, id = null } = options;
  const location = readStoreLocation(options.url);
  if ('fault' in location) throw new StoreError('open', `the store address should be ${location.fault}`);
  // Loaded on demand: the SDK of S3 costs a third of a second at start.
  if (location.kind === 'file') {
    const { createFileStore } = await import('./file/file-store.js');
    return createFileStore({ directory: location.directory, partSize, id, fsync: options.fsync ?? true });
  }
  assertPartSize(partSize);
  const { createS3Store } = await import('./s3/s3-store.js');
  const { bucket, prefix } = location;
  return createS3Store({
    bucket,
    prefix,
    partSize,
    id,
    settings: options.s3 ?? {},
    onNotice: options.onNotice,
  });
}

/**
 * Throws `StoreGoneError` for a folder without a store, such as one whose volume is not mounted, and `UnmarkedStoreError` for one that has
 * lost its marker: a new marker would stop the receivers that know the old one. Does not check buckets.
 */
export async function assertStoreExists(url: string): Promise<void> {
  const location = readStoreLocation(url);
  if (!('directory' in location)) return;
  const { directory } = location;
  const found = await findStore(directory);
  if (found === 'unmarked')
    throw new UnmarkedStoreError(
      `${directory} has lost its marker ${STORE_MARKER}: restore that file from a backup; without one restart the receivers, and the first marks the folder as a new store`,
    );
  if (found === null)
    throw new StoreGoneError(
      `${directory} holds no store: nothing was stored there yet, or its volume is not mounted`,
    );
}

/**
 * Throws `StoreError` for a folder in which no store can be created. Writes nothing: a new store would hide that a volume is not mounted.
 */
export async function assertMayBegin(url: string): Promise<void> {
  const location = readStoreLocation(url);
  if ('directory' in location) await assertFolderMayBegin(location.directory);
}

function assertPartSize(partSize: number): void {
  if (!Number.isSafeInteger(partSize) || partSize < MIN_S3_PART || partSize > MAX_S3_PART)
    throw new StoreError('open', `part size ${partSize}: for S3 5 MiB to 1 GiB`);
}
