import { lstat, opendir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreError } from '../../object-store.js';
import { fileStoreError, ifAbsent } from '../file-errors.js';
import { inodeAt } from '../read-file.js';
import { type FileMeta, stemOf } from './file-meta.js';
import { parseMetaName } from './meta-names.js';

interface SweepPlace {
  readonly root: string;
  readonly metaRoot: string;
  readonly meta: Pick<FileMeta, 'removeAt'>;
  readonly olderThan: Date;
}

/**
 * Removes orphaned metadata, whose objects never became visible, or were replaced or deleted while the process died. Keeps the only
 * metadata of an object, for any inode, because a restored backup has new inodes. Age counts from the last change of the inode (ctime),
 * which a restore resets, so that metadata restored before its objects is kept. An unreadable folder does not stop the sweep; the first
 * `StoreError` is thrown at the end.
 */
export async function sweepMeta(place: SweepPlace, folder = ''): Promise<void> {
  const entries = await opendir(join(place.metaRoot, folder)).catch(ifAbsent(null));
  if (entries === null) return;
  const files: string[] = [];
  let first: StoreError | null = null;
  const attempt = (at: string, work: Promise<void>) =>
    work.catch((error: unknown) => {
      first ??= fileStoreError('sweep', at, error);
    });
  // Not `readdir`, which would hold the names of a million jobs. Each job's own folder has few files.
  for await (const entry of entries) {
    const at = join(folder, entry.name);
    if (entry.isDirectory()) await attempt(at, sweepMeta(place, at));
    else if (entry.isFile()) files.push(entry.name);
  }
  if (files.length > 0) await attempt(folder, sweepFolder(place, folder, files));
  if (first !== null) throw first;
}

async function sweepFolder(place: SweepPlace, folder: string, files: readonly string[]): Promise<void> {
  const objects = await readdir(join(place.root, folder)).catch(ifAbsent<string[]>([]));
  const objectOf = new Map(objects.map((name) => [stemOf(name), join(place.root, folder, name)]));
  for (const [stem, ofOneKey] of groupByStem(files)) {
    const object = objectOf.get(stem);
    // The usual case needs no lstat of the files.
    if (object !== undefined && ofOneKey.length === 1) continue;
    for (const { name, inode } of ofOneKey) {
      const path = join(place.metaRoot, folder, name);
      if (!(await isOld(path, place.olderThan))) continue;
      const current = object === undefined ? null : await inodeAt(object);
      const belongsToOther = current !== null && ofOneKey.some((other) => other.inode === current);
      if (current === null || (belongsToOther && inode !== current)) await place.meta.removeAt(path);
    }
  }
}

interface MetaFile {
  readonly name: string;
  readonly inode: bigint;
}

function groupByStem(names: readonly string[]): Map<string, MetaFile[]> {
  const groups = new Map<string, MetaFile[]>();
  for (const name of names) {
    const parsed = parseMetaName(name);
    if (parsed === null) continue;
    const group = groups.get(parsed.stem) ?? [];
    groups.set(parsed.stem, [...group, { name, inode: parsed.inode }]);
  }
  return groups;
}

async function isOld(path: string, olderThan: Date): Promise<boolean> {
  const info = await lstat(path).catch(ifAbsent(null));
  return info !== null && info.ctime < olderThan;
}
