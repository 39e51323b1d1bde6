import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isAbsent } from './file-errors.js';
import { type FileMeta, parseMetaName, stemOf } from './file-meta.js';

interface SweepPlace {
  readonly root: string;
  readonly metaRoot: string;
  readonly meta: Pick<FileMeta, 'removeAt'>;
  readonly olderThan: Date;
}

/**
 * Removes metadata whose object never became visible, was replaced or deleted, when a process died in between.
 * The only metadata of an object stays, whatever its inode: after a restore it is the object's own. Age is counted
 * from the last change of the inode, which a restore cannot take along, so that metadata that is restored before
 * its objects stays, too.
 */
export async function sweepMeta(place: SweepPlace, folder = ''): Promise<void> {
  const entries = await readdir(join(place.metaRoot, folder), { withFileTypes: true }).catch(nothingIfAbsent);
  for (const entry of entries) if (entry.isDirectory()) await sweepMeta(place, join(folder, entry.name));
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  if (files.length > 0) await sweepFolder(place, folder, files);
}

async function sweepFolder(place: SweepPlace, folder: string, files: readonly string[]): Promise<void> {
  const objects = await readdir(join(place.root, folder)).catch(nothingIfAbsent);
  const objectOf = new Map(objects.map((name) => [stemOf(name), join(place.root, folder, name)]));
  for (const [stem, ofOneKey] of groupByStem(files)) {
    const object = objectOf.get(stem);
    // The usual case costs no look at the files themselves.
    if (object !== undefined && ofOneKey.length === 1) continue;
    for (const { name, inode } of ofOneKey) {
      const path = join(place.metaRoot, folder, name);
      if (!(await isOld(path, place.olderThan))) continue;
      const current = object === undefined ? null : await inodeOf(object);
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
  const info = await lstat(path).catch(nullIfAbsent);
  return info !== null && info.ctime < olderThan;
}

async function inodeOf(path: string): Promise<bigint | null> {
  const info = await lstat(path, { bigint: true }).catch(nullIfAbsent);
  return info?.ino ?? null;
}

function nullIfAbsent(error: unknown): null {
  if (isAbsent(error)) return null;
  throw error;
}

function nothingIfAbsent(error: unknown): [] {
  if (isAbsent(error)) return [];
  throw error;
}
