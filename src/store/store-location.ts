import { fileURLToPath } from 'node:url';
import { isKey } from './object-key.js';
import { StoreError } from './object-store.js';

/** Where a store lies; what a store URL says. */
export type StoreLocation =
  | { readonly kind: 'file'; readonly directory: string }
  /** `prefix` is empty or ends in `/`. */
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string };

/** @throws StoreError saying what is expected */
export function parseStoreLocation(url: string): StoreLocation {
  if (url.startsWith('file:')) return { kind: 'file', directory: fileDirectory(url) };
  if (url.startsWith('s3:')) return s3Location(url);
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

/** With the longest key below S3's 1024 bytes. */
const MAX_PREFIX_BYTES = 127;
/** What AWS takes, and nothing that could end up elsewhere in a host name or path. */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

function s3Location(url: string): StoreLocation {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)(.*)$/s.exec(url) ?? [];
  if (!BUCKET.test(bucket))
    throw badUrl(url, 'expected s3://<bucket>/<prefix>; a bucket has 3 to 63 of a-z, 0-9, "-" and "."');
  const prefix = path.replace(/^\//, '').replace(/\/$/, '');
  if (prefix === '') return { kind: 's3', bucket, prefix: '' };
  if (!isKey(prefix) || Buffer.byteLength(prefix) > MAX_PREFIX_BYTES)
    throw badUrl(url, `the prefix is not usable: up to ${MAX_PREFIX_BYTES} bytes, no empty or dot segments`);
  return { kind: 's3', bucket, prefix: `${prefix}/` };
}

/** Keys do not belong into the URL, but whoever put them there should not find them in the log. */
function badUrl(url: string, reason: string, cause?: unknown): StoreError {
  const shown = url.replace(/\/\/[^/]*@/, '//…@');
  return new StoreError('open', `store URL ${JSON.stringify(shown)}: ${reason}`, { cause });
}
