import { link, lstat, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { settleAll } from '../../lib/time/settle-all.js';
import { BlockedKeyError, type CreateResult, type ObjectHeaders, StoreError } from '../object-store.js';
import { errnoOf, ifAbsent, isAbsent } from './file-errors.js';
import type { FileFolders } from './file-folders.js';
import type { FileRoot } from './file-root.js';
import type { FileMeta } from './meta/file-meta.js';
import { openIfThere } from './open-file.js';
import { versionOf } from './read-file.js';
import type { TempFile } from './temp-file.js';

/** Attempts: another process that prunes empty folders may remove a parent before it is used. */
const ATTEMPTS = 20;

/** Milliseconds from the start of a write to its link at most, as S3 limits the age and the clock difference of a signature. */
const MAX_LINK_DELAY = 15 * 60_000;

export type FilePublisher = ReturnType<typeof createFilePublisher>;

/**
 * Publishes objects atomically and durably, by the order of the steps: the bytes and the metadata, then the link that makes
 * the object visible, then the folder entries. A crash at any point leaves the object complete or missing.
 */
export function createFilePublisher(root: FileRoot, folders: FileFolders, meta: FileMeta, fsync: boolean) {
  let ahead: number | null = null;
  const pathOf = (key: string): string => join(root.path, key);

  async function publish(
    key: string,
    temp: TempFile,
    headers: ObjectHeaders,
    show: (target: string, written: number) => Promise<CreateResult>,
  ): Promise<CreateResult> {
    const target = pathOf(key);
    // If the root was replaced meanwhile, the link below fails, because the new root has no such temporary file.
    await root.check();
    const { ino, mtimeMs } = await temp.handle.stat({ bigint: true });
    const bytes = fsync ? temp.handle.sync() : undefined;
    const result = await retryIfFolderVanished(async () => {
      // All steps settle before anything is cleaned up.
      await settleAll([bytes, meta.write(key, ino, headers), folders.ensure(dirname(target))]);
      return show(target, Number(mtimeMs));
    }).catch(async (error: unknown) => {
      await removeMeta(key, ino).catch(() => undefined);
      throw error;
    });
    if (result === 'exists') await removeMeta(key, ino);
    // Also when another process won: its link may not be durable yet, and the caller reports that the object exists.
    await folders.sync(dirname(target));
    return result;
  }

  /**
   * Removes the metadata of a write that created no object. A network file system can lose the answer to a successful link, and report a
   * failure or an existing name: then the object keeps its metadata.
   */
  async function removeMeta(key: string, ino: bigint): Promise<void> {
    const there = await lstat(pathOf(key), { bigint: true }).catch(ifAbsent(null));
    if (there?.ino !== ino) await meta.remove(key, ino);
  }

  /** Measures the file system's clock. Any written time within the duration of the write counts as correct. */
  function measureClock(written: number, begun: number): void {
    ahead = written - Math.max(begun, Math.min(written, Date.now()));
  }

  /** @param version of the object to replace; null: any */
  async function replaceObject(
    key: string,
    temp: TempFile,
    headers: ObjectHeaders,
    version: string | null,
    begun?: number,
  ): Promise<CreateResult> {
    // Kept open so that its inode, which names its metadata, is not reused meanwhile.
    const old = await openIfThere(pathOf(key));
    try {
      const file = (await old?.stat({ bigint: true })) ?? null;
      const oldMeta = file === null ? null : await meta.locate(key, file.ino);
      const result = await publish(key, temp, headers, async (target, written) => {
        if (begun !== undefined) measureClock(written, begun);
        if (version !== null && !(await hasVersion(target, version))) return 'exists';
        await rename(temp.path, target);
        return 'created';
      });
      if (result === 'created' && oldMeta !== null) await meta.removeAt(oldMeta);
      return result;
    } finally {
      await old?.close();
    }
  }

  return {
    /** Milliseconds by which the file system's clock was ahead of this machine's when it was last measured; null before. */
    clockAhead: () => ahead,

    /**
     * Makes a complete temp file visible at `key` if nothing is there; durable when this resolves. Throws `StoreError` when that is more
     * than fifteen minutes after the start, by either clock: the process slept, or a clock was changed.
     *
     * @param begun time before the temp file was written, in milliseconds since the epoch, to measure the file system's clock; omitted
     *   when the temp file was written long before
     */
    create(key: string, temp: TempFile, headers: ObjectHeaders, begun?: number): Promise<CreateResult> {
      const start = begun ?? Date.now();
      const known = ahead;
      return publish(key, temp, headers, (target, written) => {
        if (begun !== undefined) measureClock(written, begun);
        const moved = known === null || ahead === null ? 0 : ahead - known;
        // Readers of the ledger rely on this limit to consider an hour whole.
        if (Math.max(Math.abs(Date.now() - start), Math.abs(moved)) > MAX_LINK_DELAY)
          throw new StoreError('create', `${key} came too late`);
        return linkNew(temp.path, target, key);
      });
    },

    /** Makes a complete temp file visible at `key` and replaces what is there; `begun` as for `create`. */
    async replace(key: string, temp: TempFile, headers: ObjectHeaders, begun: number): Promise<void> {
      await replaceObject(key, temp, headers, null, begun);
    },

    /** The same if the existing object has this version; `exists` when it has another, or none exists. */
    replaceVersion: replaceObject,
  };
}

async function hasVersion(target: string, version: string): Promise<boolean> {
  const file = await lstat(target, { bigint: true }).catch(ifAbsent(null));
  return file !== null && versionOf(file) === version;
}

async function linkNew(from: string, target: string, key: string): Promise<CreateResult> {
  try {
    await link(from, target);
    return 'created';
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    await isObject(target, key);
    return 'exists';
  }
}

/** Throws when something other than a file is at the key: `link` fails with EEXIST for anything. */
async function isObject(target: string, key: string): Promise<boolean> {
  try {
    const there = await lstat(target);
    if (there.isFile()) return true;
    const what = there.isDirectory() ? 'a folder' : 'no file but a link or a device';
    throw new BlockedKeyError('create', `there is ${what} at this key: ${JSON.stringify(key)}`);
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

async function retryIfFolderVanished<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT' || attempt >= ATTEMPTS) throw error;
    }
  }
}
