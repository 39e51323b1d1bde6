import type { BigIntStats } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { assertHeaders, assertKey, assertPrefix } from '../object-key.js';
import {
  type CreateResult,
  type ListedObject,
  type ObjectHeaders,
  type ObjectStore,
  type PurgedObject,
  StoreGoneError,
} from '../object-store.js';
import { copyFile } from './copy-file.js';
import { fileCall, fileStoreError, isAbsent } from './file-errors.js';
import { createFileFolders, type FileFolders, guardIfThere } from './file-folders.js';
import { listFileFolders, listFileKeys, listFiles } from './file-list.js';
import { createFilePublisher, type FilePublisher } from './file-publisher.js';
import { createFileRoot, type FileRoot } from './file-root.js';
import { createFileUpload } from './file-upload.js';
import { createFileMeta, type FileMeta } from './meta/file-meta.js';
import { sweepMeta } from './meta/sweep-meta.js';
import { openIfThere } from './open-file.js';
import { proveFolder } from './prove-folder.js';
import { openObject, streamObject } from './read-file.js';
import { openTempFile, removeTempFiles, sweepTempFiles, type TempFile, writeFully } from './temp-file.js';

interface FileStoreOptions {
  /** Created when missing. Its visible content is exactly the key layout; the store's own names begin with a dot. */
  readonly directory: string;
  /** Bytes per part of an upload. */
  readonly partSize: number;
  /** Id that the marker must have; null: any. */
  readonly id?: string | null;
  /** False gives up durability across power loss; for tests and scratch stores. Default true. */
  readonly fsync?: boolean;
}

/** Milliseconds. A sweep of metadata reads every folder twice. */
const META_SWEEP_EVERY = 86_400_000;

interface Parts {
  readonly root: FileRoot;
  readonly temporary: string;
  readonly folders: FileFolders;
  readonly meta: FileMeta;
  readonly publisher: FilePublisher;
}

/**
 * A store in a folder of a POSIX file system with hard links (ext4, XFS, APFS, NFSv4). Safe for several
 * processes on one folder.
 */
export function createFileStore(options: FileStoreOptions): ObjectStore {
  const parts = createParts(options);
  const { root, temporary } = parts;
  const sweep = createSweep(parts);

  return {
    location: `file:${root.path}`,
    partSize: options.partSize,

    async create(key, body, headers) {
      assertKey('create', key);
      assertHeaders('create', headers);
      return fileCall('create', key, () => createObject(parts, key, body, headers));
    },

    async prove(key) {
      assertKey('prove', key);
      parts.folders.protect(join(root.path, dirname(key)));
      await fileCall('prove', key, () => proveFolder(parts, key));
      return 'exists';
    },

    async replace(key, body, headers) {
      assertKey('replace', key);
      assertHeaders('replace', headers);
      const begun = Date.now();
      await fileCall('replace', key, () =>
        withTempFile(parts, key, body, (temp) => parts.publisher.replace(key, temp, headers, begun)),
      );
    },

    async copy(from, key, headers, over) {
      assertKey('copy', from.key);
      assertKey('copy', key);
      assertHeaders('copy', headers);
      return fileCall('copy', key, () => copyFile(parts, { from, key, headers, over }));
    },

    async startUpload(key, headers) {
      assertKey('startUpload', key);
      assertHeaders('startUpload', headers);
      const temp = await fileCall('startUpload', key, async () => {
        await root.claim();
        // Fails early, before gigabytes are received in vain; the decisive check is the one at the end.
        await root.check();
        return openTempFile(temporary, key, parts.folders);
      });
      return createFileUpload(key, headers, temp, parts.publisher);
    },

    async head(key) {
      assertKey('head', key);
      const object = await fileCall('head', key, () => openObject(root, key, parts.meta));
      await object?.handle.close();
      return object?.info ?? null;
    },

    async read(key, range = null) {
      assertKey('read', key);
      const object = await fileCall('read', key, () => openObject(root, key, parts.meta));
      return object && { info: object.info, body: await streamObject(object, range) };
    },

    list(prefix, options) {
      return listing(prefix, () => listFiles(root, prefix, options), options?.signal);
    },

    keys(prefix, options) {
      return listing(prefix, () => listFileKeys(root, prefix, options), options?.signal);
    },

    folders(prefix) {
      return listing(prefix, () => listFileFolders(root, prefix));
    },

    async delete(key) {
      assertKey('delete', key);
      await fileCall('delete', key, async () => void (await deleteObject(parts, key)));
    },

    purge(place) {
      return listing(place, () => purgePlace(parts, place));
    },

    traces(folder) {
      return listing(folder, () => listFileKeys(root, folder));
    },

    async expire(found) {
      assertKey('expire', found.key);
      return fileCall('expire', found.key, () => deleteObject(parts, found.key, found));
    },

    async abortUploads(folder) {
      assertPrefix('abort', folder);
      return fileCall('abort', folder, () => abortUploads(parts, folder));
    },

    sweepUploads: (olderThan) => fileCall('sweep', '', () => sweep(olderThan)),

    identity: () => fileCall('open', '', root.identity),

    async begin() {
      return fileCall('open', '', async () => {
        await root.claim();
        const id = await root.identity();
        if (id === null) throw new StoreGoneError(`${root.path} lost its marker`);
        return id;
      });
    },

    clockOffset: () => parts.publisher.clockAhead() ?? 0,

    async close() {},
  };
}

function createParts(options: FileStoreOptions): Parts {
  const path = resolve(options.directory);
  const fsync = options.fsync ?? true;
  const root = createFileRoot(path, { fsync, id: options.id ?? null });
  const folders = createFileFolders(root, { fsync });
  const meta = createFileMeta(join(path, '.meta'), folders, { fsync });
  const publisher = createFilePublisher(root, folders, meta, fsync);
  return { root, temporary: join(path, '.tmp'), folders, meta, publisher };
}

async function createObject(
  parts: Parts,
  key: string,
  body: Buffer,
  headers: ObjectHeaders,
): Promise<CreateResult> {
  const begun = Date.now();
  return withTempFile(parts, key, body, (temp) => parts.publisher.create(key, temp, headers, begun));
}

async function withTempFile<T>(
  parts: Parts,
  key: string,
  body: Buffer,
  publish: (temp: TempFile) => Promise<T>,
): Promise<T> {
  await parts.root.claim();
  const temp = await openTempFile(parts.temporary, key, parts.folders);
  try {
    await writeFully(temp.handle, body, 0);
    return await publish(temp);
  } finally {
    await temp.discard();
  }
}

async function* purgePlace(parts: Parts, place: string): AsyncGenerator<PurgedObject> {
  const { root, meta } = parts;
  for await (const { key, size } of listFiles(root, place)) {
    if (!place.endsWith('/') && key !== place) continue;
    await deleteObject(parts, key);
    yield { key, size, what: 'object', kept: null };
  }
  if (!place.endsWith('/')) return;
  // A process that died may have left metadata without an object.
  await guardIfThere(root, join(root.path, '.meta', place));
  await meta.removeFolder(place);
  await parts.folders.prune(join(root.path, place), root.path);
}

async function* listing<T>(
  prefix: string,
  start: () => AsyncGenerator<T>,
  signal?: AbortSignal,
): AsyncGenerator<T> {
  assertPrefix('list', prefix);
  try {
    yield* start();
  } catch (error) {
    signal?.throwIfAborted();
    throw fileStoreError('list', prefix, error);
  }
}

async function abortUploads({ root, temporary, folders }: Parts, folder: string): Promise<number> {
  await root.check();
  const removed = await removeTempFiles(temporary, folder);
  if (removed > 0) await folders.sync(temporary);
  return removed;
}

/** Removes stale uploads; once a day also metadata without an object. */
function createSweep({ root, temporary, meta }: Parts): (olderThan: Date) => Promise<number> {
  let metaSweptAt = 0;
  return async (olderThan) => {
    await root.check();
    const swept = await sweepTempFiles(temporary, olderThan);
    if (Date.now() - metaSweptAt > META_SWEEP_EVERY) {
      metaSweptAt = Date.now();
      await sweepMeta({ root: root.path, metaRoot: join(root.path, '.meta'), meta, olderThan });
    }
    return swept;
  };
}

/** @param expected the listed object; another one is not deleted */
async function deleteObject(
  parts: Parts,
  key: string,
  expected?: ListedObject,
): Promise<'removed' | 'missing' | 'replaced'> {
  const { root } = parts;
  let removed = true;
  const path = join(root.path, key);
  // Kept open so that its inode, which names its metadata, is not reused meanwhile.
  const object = await openIfThere(path);
  if (object === null) {
    await root.check();
    return 'missing';
  }
  try {
    // Another process that deletes the same object may have removed its folder.
    await guardIfThere(root, dirname(path));
    const file = await object.stat({ bigint: true });
    if (!file.isFile()) return 'missing';
    if (expected !== undefined && !isSame(file, expected)) return 'replaced';
    const headers = await parts.meta.locate(key, file.ino);
    await unlink(path).catch((error: unknown) => {
      if (!isAbsent(error)) throw error;
      removed = false;
    });
    await parts.folders.sync(dirname(path));
    if (headers !== null) await parts.meta.removeAt(headers);
  } finally {
    await object.close();
  }
  await parts.folders.prune(dirname(path), root.path);
  return removed ? 'removed' : 'missing';
}

function isSame(file: BigIntStats, { size, modifiedAt }: ListedObject): boolean {
  return Number(file.size) === size && file.mtime.getTime() === modifiedAt.getTime();
}
