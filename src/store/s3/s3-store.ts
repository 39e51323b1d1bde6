import { assertKey, assertPrefix } from '../object-key.js';
import { assertHeaders } from '../object-metadata.js';
import type { ObjectStore } from '../object-store.js';
import { abortS3Uploads, sweepS3Uploads } from './abort-upload.js';
import { copyObject } from './copy-object.js';
import { bucketTraits } from './inspect-bucket.js';
import { listObjects, listS3Folders } from './list-objects.js';
import { purgeObjects, tracedKeys } from './purge-objects.js';
import { putObject } from './put-object.js';
import { deleteObject, headObject, readObject } from './read-object.js';
import { readTags } from './read-tags.js';
import { openBucket } from './s3-bucket.js';
import type { S3StoreOptions } from './s3-options.js';
import { startS3Upload } from './s3-upload.js';

/**
 * Opens a store in a bucket of AWS S3 or a compatible server with conditional writes. Sends no request.
 *
 * @throws StoreError when the address of the bucket is unknown, e.g. without a region
 */
export async function createS3Store(options: S3StoreOptions): Promise<ObjectStore> {
  const bucket = await openBucket(options);
  let closed: Promise<void> | null = null;

  return {
    location: `s3://${options.bucket}/${options.prefix}`,
    partSize: options.partSize,
    headBringsMd5: options.settings.sse?.mode !== 'aws:kms',

    create: (key, body, headers) => putObject(bucket, 'create', key, body, headers),

    async replace(key, body, headers) {
      await putObject(bucket, 'replace', key, body, headers);
    },

    async copy(from, key, headers, over) {
      assertKey('copy', from.key);
      assertKey('copy', key);
      assertHeaders('copy', headers);
      return copyObject(bucket, { from, key, headers, over });
    },

    async startUpload(key, headers) {
      assertKey('startUpload', key);
      assertHeaders('startUpload', headers);
      return startS3Upload(bucket, key, headers);
    },

    async head(key) {
      assertKey('head', key);
      return headObject(bucket, key);
    },

    async read(key, range = null, purpose = 'own') {
      assertKey('read', key);
      return readObject(bucket, key, range, purpose);
    },

    async *list(prefix, { startAfter = '' } = {}) {
      assertPrefix('list', prefix);
      yield* listObjects(bucket, prefix, startAfter);
    },

    async *folders(prefix) {
      assertPrefix('list', prefix);
      yield* listS3Folders(bucket, prefix);
    },

    async delete(key) {
      assertKey('delete', key);
      await deleteObject(bucket, key);
    },

    async *purge(folder) {
      assertPrefix('purge', folder);
      yield* purgeObjects(bucket, folder);
    },

    async *traces(folder) {
      assertPrefix('list', folder);
      yield* tracedKeys(bucket, folder);
    },

    async abortUploads(folder) {
      assertPrefix('abort', folder);
      return abortS3Uploads(bucket, folder);
    },

    sweepUploads: (olderThan) => sweepS3Uploads(bucket, olderThan),

    ...(options.settings.tags && {
      async tags(key: string) {
        assertKey('tags', key);
        return readTags(bucket, key);
      },
    }),

    traits: () => bucketTraits(bucket.client, options.bucket, options.settings),

    close() {
      closed ??= bucket.sender.close().finally(() => bucket.client.destroy());
      return closed;
    },
  };
}
