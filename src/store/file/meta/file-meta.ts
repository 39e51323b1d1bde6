import { createHash } from 'node:crypto';
import { lstat, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ObjectHeaders } from '../../object-store.js';
import type { FileFolders } from '../file-folders.js';
import { openIfThere, openToWrite } from '../open-file.js';
import { createMetaNames } from './meta-names.js';

/** Leaves room for `#<inode>.json` below the 255 bytes of a file name. */
const MAX_PLAIN_NAME_BYTES = 220;
/** Headers of an object without metadata, such as a file that an operator put there. */
export const UNKNOWN_HEADERS: ObjectHeaders = { contentType: 'application/octet-stream', metadata: {} };

export type FileMeta = ReturnType<typeof createFileMeta>;

/**
 * Stores the content type and metadata of objects in `.meta/<key>#<inode>.json`.
 *
 * The inode is part of the name so that concurrent creators of one key never write the same file: each writes its own
 * before the object becomes visible, and the object that is linked first has its own metadata.
 */
export function createFileMeta(root: string, folders: FileFolders, options: { fsync: boolean }) {
  const names = createMetaNames();
  const stem = (key: string): string => join(root, dirname(key), stemOf(basename(key)));

  async function removeAt(path: string): Promise<void> {
    await rm(path, { force: true });
    await folders.prune(dirname(path), root);
  }

  return {
    /** Writes the headers durably. `inode` is that of the file that will be linked at `key`. */
    async write(key: string, inode: bigint, { contentType, metadata }: ObjectHeaders): Promise<void> {
      const path = `${stem(key)}#${inode}.json`;
      await folders.ensure(dirname(path));
      await writeDurably(path, JSON.stringify({ contentType, metadata }), options);
      await folders.sync(dirname(path));
    },

    /** The headers written for this inode at `key`; null when there are none. */
    readOwn: (key: string, inode: bigint) => readHeaders(`${stem(key)}#${inode}.json`),

    /**
     * The only headers at `key`, for any inode, because a restored backup has new inodes. Null when there are
     * several, because it is unknown which belong to the object.
     */
    async readRestored(key: string): Promise<ObjectHeaders | null> {
      const path = await names.findOnlyOne(stem(key));
      return path === null ? null : readHeaders(path);
    },

    /** Path of the headers that belong to the object with this inode; null when there are none. */
    async locate(key: string, inode: bigint): Promise<string | null> {
      const own = `${stem(key)}#${inode}.json`;
      return (await exists(own)) ? own : names.findOnlyOne(stem(key));
    },

    /** Removes the headers written for this inode alone. */
    remove: (key: string, inode: bigint) => removeAt(`${stem(key)}#${inode}.json`),
    /** Removes the headers at a path that `locate` returned. */
    removeAt,

    /** Removes all headers below a folder of keys, which ends in `/`. */
    async removeFolder(folder: string): Promise<void> {
      const path = join(root, folder);
      if (!(await exists(path))) return;
      await rm(path, { recursive: true, force: true });
      await folders.sync(dirname(path));
      await folders.prune(dirname(path), root);
    },
  };
}

/** Beginning of the metadata file's name. A name near the limit is replaced by its hash, so that the suffix fits. */
export function stemOf(name: string): string {
  if (Buffer.byteLength(name) <= MAX_PLAIN_NAME_BYTES) return name;
  return createHash('sha256').update(name).digest('hex');
}

async function writeDurably(path: string, text: string, options: { fsync: boolean }): Promise<void> {
  const file = await openToWrite(path);
  try {
    await file.writeFile(text);
    if (options.fsync) await file.sync();
  } finally {
    await file.close();
  }
}

async function readHeaders(path: string): Promise<ObjectHeaders | null> {
  const file = await openIfThere(path);
  if (file === null) return null;
  try {
    return JSON.parse(await file.readFile('utf8'));
  } catch (error) {
    // A truncated file is left by a crash before the link; its object never became visible.
    if (error instanceof SyntaxError) return null;
    throw error;
  } finally {
    await file.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
