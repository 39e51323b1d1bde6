import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ifAbsent } from '../file-errors.js';

export type MetaNames = ReturnType<typeof createMetaNames>;

/** Names of a folder by their stem; null for several. */
type NamesByStem = ReadonlyMap<string, string | null>;

/** A folder may have changed twice within what its file system's clock can tell apart. */
const SETTLED_MS = 5000;
/** Some 10 MB. A larger folder is read again for each of its objects. */
const MAX_HELD = 50_000;

/**
 * Finds metadata whose inode is not known. Holds the names of the folder that was read last until it changes: of a restored backup each
 * object of an hour would read them all.
 *
 * @param list reads the names of a folder
 */
export function createMetaNames(list: (folder: string) => Promise<string[]> = readdir) {
  let held: { readonly folder: string; readonly changed: bigint; readonly names: NamesByStem } | null = null;

  async function nameOf(folder: string, stem: string): Promise<string | null> {
    // Before the names: what changes while they are read shows in the next look.
    const info = await lstat(folder, { bigint: true }).catch(ifAbsent(null));
    if (info === null) return null;
    if (held?.folder !== folder || held.changed !== info.mtimeNs) {
      const names = await list(folder).catch(ifAbsent<string[]>([]));
      const isSettled = Date.now() - Number(info.mtimeMs) > SETTLED_MS;
      // Names that are not held are not taken apart: callbacks change the folder of the hour all the time.
      if (!isSettled || names.length > MAX_HELD)
        return byStem(names.filter((name) => name.startsWith(`${stem}#`))).get(stem) ?? null;
      held = { folder, changed: info.mtimeNs, names: byStem(names) };
    }
    return held.names.get(stem) ?? null;
  }

  return {
    /** The only metadata file whose name begins like `start`; null when there is none, or several. */
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

/** Takes the name of a metadata file apart; null for other files. */
export function parseMetaName(name: string): { readonly stem: string; readonly inode: bigint } | null {
  const [, stem, inode] = /^(.+)#(\d+)\.json$/s.exec(name) ?? [];
  return stem === undefined || inode === undefined ? null : { stem, inode: BigInt(inode) };
}
