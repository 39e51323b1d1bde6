import { GetObjectTaggingCommand } from '@aws-sdk/client-s3';
import { asFailure, isMissing, withRetries } from '../s3-failure.js';
import { s3StoreError } from '../s3-store-error.js';
import { located, type S3Bucket } from './s3-bucket.js';

/** The object tags of an object; null when it is missing. */
export async function readTags(
  bucket: S3Bucket,
  key: string,
): Promise<Readonly<Record<string, string>> | null> {
  try {
    const { TagSet = [] } = await withRetries(bucket.limits.retry, () =>
      bucket.client.send(new GetObjectTaggingCommand(located(bucket, key))),
    );
    return Object.fromEntries(TagSet.map(({ Key, Value }) => [Key ?? '', Value ?? '']));
  } catch (error) {
    if (isMissing(asFailure(error))) return null;
    throw s3StoreError('tags', key, error);
  }
}
