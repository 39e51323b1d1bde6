import { fileURLToPath } from 'node:url';
import { createFileStore } from './file-store.js';
import { isKey } from './object-key.js';
import { type ObjectStore, StoreError } from './object-store.js';
import type { S3Settings } from './s3-options.js';

/** Large enough that 10,000 parts carry 78 GiB, small enough for many uploads in one memory budget. */
export const DEFAULT_PART_SIZE = 8 * 1024 * 1024;

const MIN_S3_PART = 5 * 1024 * 1024;
const MAX_S3_PART = 5 * 1024 * 1024 * 1024;
/** With the longest key below S3's 1024 bytes. */
const MAX_PREFIX_BYTES = 127;

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
  if (url.startsWith('s3:')) {
    assertPartSize(partSize);
    // Loaded only when wanted: the SDK costs a third of a second at start.
    const { createS3Store } = await import('./s3-store.js');
    return createS3Store({ ...bucketAndPrefix(url), partSize, settings: options.s3 ?? {} });
  }
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

/** What AWS takes, and nothing that could end up elsewhere in a host name or path. */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

function bucketAndPrefix(url: string): { bucket: string; prefix: string } {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)(.*)$/s.exec(url) ?? [];
  if (!BUCKET.test(bucket))
    throw badUrl(url, 'expected s3://<bucket>/<prefix>; a bucket has 3 to 63 of a-z, 0-9, "-" and "."');
  const prefix = path.replace(/^\//, '').replace(/\/$/, '');
  if (prefix === '') return { bucket, prefix: '' };
  if (!isKey(prefix) || Buffer.byteLength(prefix) > MAX_PREFIX_BYTES)
    throw badUrl(url, `the prefix is not usable: up to ${MAX_PREFIX_BYTES} bytes, no empty or dot segments`);
  return { bucket, prefix: `${prefix}/` };
}

/** S3's own limits for all parts but the last. */
function assertPartSize(partSize: number): void {
  if (!Number.isSafeInteger(partSize) || partSize < MIN_S3_PART || partSize > MAX_S3_PART)
    throw new StoreError('open', `part size ${partSize}: S3 takes 5 MiB to 5 GiB`);
}

function badUrl(url: string, reason: string, cause?: unknown): StoreError {
  return new StoreError('open', `store URL ${JSON.stringify(url)}: ${reason}`, { cause });
}
