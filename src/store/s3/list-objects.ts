import { ListObjectsV2Command, type ListObjectsV2CommandOutput } from '@aws-sdk/client-s3';
import { compareKeys, isListed } from '../object-key.js';
import { type ListedObject, type ListRange, StoreError, UnorderedListingError } from '../object-store.js';
import type { S3Bucket } from './bucket/s3-bucket.js';
import { withRetries } from './s3-failure.js';
import { s3StoreError } from './s3-store-error.js';

/** Maximum number of keys in a page of S3. */
const PAGE = 1000;

const UNORDERED = 'its listings are not in the order of keys';
const IGNORES_START = 'its listings do not begin behind a key (StartAfter)';

/** Lists the objects below a prefix, to the last page or the limit. */
export async function* listObjects(
  bucket: S3Bucket,
  prefix: string,
  {
    startAfter = '',
    limit = Number.POSITIVE_INFINITY,
    direct = false,
    pageSize = PAGE,
    signal,
  }: ListRange = {},
): AsyncGenerator<ListedObject> {
  let left = limit;
  let last: string | null = null;
  const atOnce = Math.min(direct ? PAGE : limit, pageSize);
  const input = {
    ...(startAfter === '' ? {} : { StartAfter: bucket.prefix + startAfter }),
    ...(atOnce < PAGE ? { MaxKeys: atOnce } : {}),
  };
  for await (const page of pages(bucket, prefix, input, signal)) {
    for (const object of page.Contents ?? []) {
      const key = ownKey(bucket, page, object.Key);
      if (last === null) assertAscends(prefix, startAfter, key, IGNORES_START);
      else assertAscends(prefix, last, key);
      last = key;
      if (direct && key.includes('/', prefix.lastIndexOf('/') + 1)) continue;
      if (!isListed(key, prefix)) continue;
      yield { key, size: object.Size ?? 0, modifiedAt: object.LastModified ?? new Date(0) };
      left -= 1;
      if (left === 0) return;
    }
  }
}

/** Lists the immediate sub-folders of a prefix, each ending in `/`. */
export async function* listS3Folders(bucket: S3Bucket, prefix: string): AsyncGenerator<string> {
  let last = '';
  for await (const page of pages(bucket, prefix, { Delimiter: '/' })) {
    for (const common of page.CommonPrefixes ?? []) {
      const folder = ownKey(bucket, page, common.Prefix);
      assertAscends(prefix, last, folder);
      last = folder;
      if (isListed(folder.slice(0, -1), prefix)) yield folder;
    }
  }
}

async function* pages(
  bucket: S3Bucket,
  prefix: string,
  input: { StartAfter?: string; Delimiter?: string; MaxKeys?: number },
  signal?: AbortSignal,
): AsyncGenerator<ListObjectsV2CommandOutput> {
  let token: string | undefined;
  do {
    signal?.throwIfAborted();
    const page: ListObjectsV2CommandOutput = await withRetries(
      bucket.limits.retry,
      () =>
        bucket.client.send(
          new ListObjectsV2Command({
            ...input,
            Bucket: bucket.bucket,
            Prefix: bucket.prefix + prefix,
            // Foreign keys may hold characters that XML cannot represent.
            EncodingType: 'url',
            ContinuationToken: token,
          }),
          signal === undefined ? {} : { abortSignal: signal },
        ),
      { signal },
    ).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw s3StoreError('list', prefix, error);
    });
    if (token !== undefined && page.NextContinuationToken === token)
      throw new StoreError('list', `the listing of "${prefix}" comes back to the page before`);
    yield page;
    token = page.NextContinuationToken;
    if (page.IsTruncated && !token)
      throw new StoreError('list', `the listing of "${prefix}" is truncated and has no continuation token`);
  } while (token);
}

/** Throws for a key out of order. The probe at start has checked that, but a server upgrade or a proxy can change it. */
function assertAscends(prefix: string, before: string, key: string, fault = UNORDERED): void {
  // `key < before` compares UTF-16, which differs from the order of bytes only beyond U+D7FF.
  if (key < before && compareKeys(key, before) < 0) throw new UnorderedListingError(prefix, fault);
}

function ownKey(bucket: S3Bucket, page: ListObjectsV2CommandOutput, text: string | undefined): string {
  return decodeKey(text ?? '', page.EncodingType).slice(bucket.prefix.length);
}

/** Listings are encoded like forms: a blank may be `+`. Servers that ignore `EncodingType` send plain keys. */
export function decodeKey(text: string, encoding: string | undefined): string {
  if (encoding !== 'url') return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw new StoreError('list', 'the listing holds a key that cannot be decoded', { cause });
  }
}
