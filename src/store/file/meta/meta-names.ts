import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ifAbsent } from '../file-errors.js';

export type MetaNames = ReturnType<typeof createMetaNames>;

/** Names of a folder by their stem; null for several. */
type NamesByStem = ReadonlyMap<string, string | null>;

/** Age of a folder's last change from which on its time is reliable: two changes may fall into one tick of the file system's clock. */
const SETTLED_MS = 5000;
/** Cached names at most, some 10 MB. A larger folder is read again for each of its objects. */
const MAX_CACHED = 50_000;

/**
 * Finds metadata whose inode is not known. Caches the names of the last folder until it changes: otherwise each object of a restored hour
 * would read all of them.
 *
 * @param list reads the names of a folder
 */
export function createMetaNames(list: (folder: string) => Promise<string[]> = readdir) {
  let cached: { readonly folder: string; readonly changed: bigint; readonly names: NamesByStem } | null =
    null;

  async function nameOf(folder: string, stem: string): Promise<string | null> {
    // Read before the names, so that a change during that read is noticed next time.
    const info = await lstat(folder, { bigint: true }).catch(ifAbsent(null));
    if (info === null) return null;
    if (cached?.folder !== folder || cached.changed !== info.mtimeNs) {
      const names = await list(folder).catch(ifAbsent<string[]>([]));
      const isSettled = Date.now() - Number(info.mtimeMs) > SETTLED_MS;
      // Without caching only matching names are parsed: callbacks change the folder of the current hour all the time.
      if (!isSettled || names.length > MAX_CACHED)
        return byStem(names.filter((name) => name.startsWith(`${stem}#`))).get(stem) ?? null;
      cached = { folder, changed: info.mtimeNs, names: byStem(names) };
    }
    return cached.names.get(stem) ?? null;
  }

  return {
    /** The only metadata file of the stem `start`; null when there is none, or several. */
    async findOnlyOne(start: string): Promise<string | null> {
      const folder = dirname(start);
      const name = await nameOf(folder, basename(start));
      return name === null ? null : join(folder, name);
    },
  };
}

function byStem(names: readonly string[]): NamesByStem {
  const found = new Map<string, string | null>();
  for (const name of names) {
    const stem = parseMetaName(name)?.stem;
    if (stem !== undefined) found.set(stem, found.has(stem) ? null : name);
  }
  return found;
}

/** Parses the name of a metadata file; null for other files. */
export function parseMetaName(name: string): { readonly stem: string; readonly inode: bigint } | null {
  const [, stem, inode] = /^(.+)#(\d+)\.json$/s.exec(name) ?? [];
  return stem === undefined || inode === undefined ? null : { stem, inode: BigInt(inode) };
}
