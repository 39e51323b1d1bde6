import { fileURLToPath } from 'node:url';
import { createFileStore } from './file-store.js';
import { type ObjectStore, StoreError } from './object-store.js';
import type { S3Settings } from './s3-options.js';

/** Large enough that 10,000 parts carry 78 GiB, small enough for many uploads in one memory budget. */
export const DEFAULT_PART_SIZE = 8 * 1024 * 1024;

export interface StoreOptions {
  /** `file:./data`, `file:/var/data`, `file:///var/data`, or `s3://bucket/optional/prefix`. */
  readonly url: string;
  /** Bytes per part of an upload, 5 MiB to 5 GiB for S3. Default 8 MiB. */
  readonly partSize?: number | undefined;
  readonly s3?: S3Settings | undefined;
  /** File store only: false gives up durability across power loss. Default true. */
  readonly fsync?: boolean | undefined;
}

/** Opens the store a URL names. Does not touch it yet; see `probeStore`. */
export async function openStore(options: StoreOptions): Promise<ObjectStore> {
  const partSize = options.partSize ?? DEFAULT_PART_SIZE;
  const { url } = options;
  if (url.startsWith('file:'))
    return createFileStore({ directory: fileDirectory(url), partSize, fsync: options.fsync ?? true });
  throw badUrl(url, 'expected file:<folder> or s3://<bucket>/<prefix>');
}

/** Relative paths are allowed after `file:` because a container's working folder is a sensible default. */
function fileDirectory(url: string): string {
  if (url.startsWith('file://')) {
    try {
      return fileURLToPath(url);
    } catch (error) {
      throw badUrl(url, 'file:// wants an absolute path on this host, as in file:///var/data', error);
    }
  }
  const path = url.slice('file:'.length);
  if (path === '') throw badUrl(url, 'the folder is missing, as in file:./data');
  return path;
}

function badUrl(url: string, reason: string, cause?: unknown): StoreError {
  return new StoreError('open', `store URL ${JSON.stringify(url)}: ${reason}`, { cause });
}
