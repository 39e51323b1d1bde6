import { randomUUID } from 'node:crypto';
import { assertPinned } from '../assert-pinned.js';
import { assertHeaders, assertKey, assertPrefix, BUCKET_MARKER } from '../object-key.js';
import { type CreateResult, type ObjectHeaders, type ObjectStore, StoreError } from '../object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../read-document.js';
import { abortS3Uploads, sweepS3Uploads } from './abort-upload.js';
import { bucketTraits } from './bucket/bucket-traits.js';
import { readTags } from './bucket/read-tags.js';
import { openBucket, type S3Bucket } from './bucket/s3-bucket.js';
import { copyObject } from './copy-object.js';
import { listObjects, listS3Folders } from './list-objects.js';
import { purgeObjects, tracedKeys } from './purge-objects.js';
import { deleteObject, headObject, readObject } from './read-object.js';
import type { S3StoreOptions } from './s3-options.js';
import { s3StoreError } from './s3-store-error.js';
import { startS3Upload } from './s3-upload.js';
import { integrityHeaders, integrityOf, objectHeaders } from './wire/object-headers.js';
import type { SignedPut } from './wire/s3-sender.js';

/**
 * Opens a store in a bucket of AWS S3 or a compatible server with conditional writes. Sends no request.
 *
 * @throws StoreError when the address of the bucket is unknown, e.g. without a region
 */
export async function createS3Store(options: S3StoreOptions): Promise<ObjectStore> {
  const bucket = await openBucket(options);
  let closed: Promise<void> | null = null;

  /** With `ifAbsent`, a retry after a lost answer results in `exists`, and the caller reads back. */
  function putWith(operation: 'create' | 'replace', { ifAbsent }: { readonly ifAbsent: boolean }) {
    return async (key: string, body: Buffer, headers: ObjectHeaders): Promise<CreateResult> => {
      assertKey(operation, key);
      assertHeaders(operation, headers);
      try {
        const { status } = await bucket.sender.put(putRequest(bucket, key, body, headers, ifAbsent));
        return status === 200 || status === 201 ? 'created' : 'exists';
      } catch (error) {
        throw s3StoreError(operation, key, error);
      }
    };
  }

  const replace = putWith('replace', { ifAbsent: false });
  const createUnseen = putWith('create', { ifAbsent: false });

  async function createEmulated(key: string, body: Buffer, headers: ObjectHeaders): Promise<CreateResult> {
    assertKey('create', key);
    return (await headObject(bucket, key)) === null ? createUnseen(key, body, headers) : 'exists';
  }

  const isEmulated = options.settings.conditionalWrites === 'emulated';
  const create = isEmulated ? createEmulated : putWith('create', { ifAbsent: true });

  const read: ObjectStore['read'] = async (key, range = null, purpose = 'own') => {
    assertKey('read', key);
    return readObject(bucket, key, range, purpose);
  };
  const location = `s3://${options.bucket}/${options.prefix}`;

  return {
    ...createS3Marker({ location, read, create }, options.id ?? null),
    location,
    partSize: options.partSize,

    create,

    async prove(key, content) {
      const headers = { contentType: 'text/plain', metadata: {}, content };
      // Emulated `create` finds an existing object by a HEAD, which does not prove that it could be written.
      const result = await (isEmulated ? replace : create)(key, Buffer.alloc(0), headers);
      await headObject(bucket, key);
      return result;
    },

    async replace(key, body, headers) {
      await replace(key, body, headers);
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

    read,

    async *list(prefix, options) {
      assertPrefix('list', prefix);
      yield* listObjects(bucket, prefix, options);
    },

    async *keys(prefix, options) {
      assertPrefix('list', prefix);
      for await (const { key } of listObjects(bucket, prefix, options)) yield key;
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

    clockOffset: () => bucket.clock.ahead,

    traits: () => bucketTraits(bucket.client, options.bucket, options.settings),

    close() {
      closed ??= bucket.close();
      return closed;
    },
  };
}

function putRequest(
  { sender, settings, prefix }: S3Bucket,
  key: string,
  body: Buffer,
  headers: ObjectHeaders,
  ifAbsent: boolean,
): SignedPut {
  const integrity = integrityOf(settings, sender.secure, body, headers.metadata.sha256);
  return {
    operation: 'PutObject',
    key: prefix + key,
    headers: Object.assign(objectHeaders(settings, key, headers), integrityHeaders(integrity)),
    ifAbsent,
    body,
  };
}

/** The marker object that identifies a store in a bucket. */
function createS3Marker(
  store: Pick<ObjectStore, 'location' | 'read' | 'create'>,
  pinned: string | null,
): Pick<ObjectStore, 'identity' | 'begin'> {
  async function identity(): Promise<string | null> {
    const document = await readDocument(store, BUCKET_MARKER);
    const id = typeof document?.store === 'string' ? document.store : null;
    assertPinned(store.location, id, pinned);
    return id;
  }

  return {
    identity,
    async begin() {
      const before = await identity();
      if (before !== null) return before;
      // Another process may do the same concurrently: the first write wins.
      await store.create(
        BUCKET_MARKER,
        Buffer.from(`${JSON.stringify({ store: randomUUID() })}\n`),
        DOCUMENT_HEADERS,
      );
      const id = await identity();
      if (id === null)
        throw new StoreError('open', `${BUCKET_MARKER} is not a marker of a store: restore it from a backup`);
      return id;
    },
  };
}
