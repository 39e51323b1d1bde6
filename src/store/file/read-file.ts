import type { BigIntStats } from 'node:fs';
import { type FileHandle, lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { ObjectHeaders, ObjectInfo } from '../object-store.js';
import { wholeBody } from '../whole-body.js';
import { fileStoreError, ifAbsent } from './file-errors.js';
import { guardIfThere } from './file-folders.js';
import type { FileRoot } from './file-root.js';
import { type FileMeta, UNKNOWN_HEADERS } from './meta/file-meta.js';
import { openIfThere } from './open-file.js';

interface OpenObject {
  readonly handle: FileHandle;
  readonly info: ObjectInfo;
}

/** Opens an object with the metadata that belongs to exactly these bytes; null when there is none. */
export async function openObject(root: FileRoot, key: string, meta: FileMeta): Promise<OpenObject | null> {
  for (;;) {
    const handle = await openIfThere(join(root.path, key));
    const info = handle === null ? null : await describeOrClose(handle, root, key, meta);
    if (handle !== null && info !== null && info !== 'replaced') return { handle, info };
    await handle?.close();
    if (info !== null) continue;
    // The object is missing only if the store itself still exists.
    await root.check();
    return null;
  }
}

async function describeOrClose(handle: FileHandle, root: FileRoot, key: string, meta: FileMeta) {
  try {
    // Another process may have removed the object with its folder: the caller looks the key up again.
    if (!(await guardIfThere(root, dirname(join(root.path, key))))) return 'replaced';
    return await describe(handle, root.path, key, meta);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function describe(
  handle: FileHandle,
  root: string,
  key: string,
  meta: FileMeta,
): Promise<ObjectInfo | 'replaced' | null> {
  const file = await handle.stat({ bigint: true });
  if (!file.isFile()) return null;
  let headers: ObjectHeaders | null = await meta.readOwn(key, file.ino);
  if (headers === null) {
    // `replace` removes the old metadata after the rename: without metadata these may be the old bytes.
    if ((await inodeAt(join(root, key))) !== file.ino) return 'replaced';
    headers = (await meta.readRestored(key)) ?? UNKNOWN_HEADERS;
  }
  return { key, size: Number(file.size), modifiedAt: file.mtime, version: versionOf(file), ...headers };
}

/** Version of the bytes of a file, the same for all of its links: the modification time of an inode does not change with them. */
export function versionOf({ ino, mtimeNs }: Pick<BigIntStats, 'ino' | 'mtimeNs'>): string {
  return `${ino}-${mtimeNs}`;
}

/** Inode at a path; null when nothing is there. */
export async function inodeAt(path: string): Promise<bigint | null> {
  const file = await lstat(path, { bigint: true }).catch(ifAbsent(null));
  return file?.ino ?? null;
}

/** Streams an open object, or a range clipped to it, and closes it at the end. */
export async function streamObject(
  { handle, info }: OpenObject,
  range: { start: number; end: number } | null,
): Promise<Readable> {
  const start = range?.start ?? 0;
  const end = Math.min(range?.end ?? Number.POSITIVE_INFINITY, info.size - 1);
  if (start > end) {
    await handle.close();
    return Readable.from([]);
  }
  const source = handle.createReadStream({ start, end });
  return wholeBody(source, end - start + 1, info.key, (error) => fileStoreError('read', info.key, error));
}
