import { ListObjectsV2Command, type ListObjectsV2CommandOutput } from '@aws-sdk/client-s3';
import { isListed } from '../object-key.js';
import { type ListedObject, type ListRange, StoreError } from '../object-store.js';
import type { S3Bucket } from './bucket/s3-bucket.js';
import { s3StoreError } from './s3-store-error.js';
import { withRetries } from './with-retries.js';

/** The most keys that S3 puts into a page. */
const PAGE = 1000;

/** Lists the objects below a prefix, to the last page or the limit. */
export async function* listObjects(
  bucket: S3Bucket,
  prefix: string,
  { startAfter = '', limit = Number.POSITIVE_INFINITY, pageSize = PAGE, signal }: ListRange = {},
): AsyncGenerator<ListedObject> {
  let left = limit;
  const atOnce = Math.min(limit, pageSize);
  const input = {
    ...(startAfter === '' ? {} : { StartAfter: bucket.prefix + startAfter }),
    ...(atOnce < PAGE ? { MaxKeys: atOnce } : {}),
  };
  for await (const page of pages(bucket, prefix, input, signal)) {
    for (const object of page.Contents ?? []) {
      const key = ownKey(bucket, page, object.Key);
      if (!isListed(key, prefix)) continue;
      yield { key, size: object.Size ?? 0, modifiedAt: object.LastModified ?? new Date(0) };
      left -= 1;
      if (left === 0) return;
    }
  }
}

/** Lists the immediate sub-folders of a prefix, each ending in `/`. */
export async function* listS3Folders(bucket: S3Bucket, prefix: string): AsyncGenerator<string> {
  for await (const page of pages(bucket, prefix, { Delimiter: '/' })) {
    for (const common of page.CommonPrefixes ?? []) {
      const folder = ownKey(bucket, page, common.Prefix);
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
    yield page;
    if (token !== undefined && page.NextContinuationToken === token)
      throw new StoreError('list', `the listing of "${prefix}" comes back to the page before`);
    token = page.NextContinuationToken;
    if (page.IsTruncated && !token)
      throw new StoreError('list', `the listing of "${prefix}" is truncated and has no continuation token`);
  } while (token);
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
