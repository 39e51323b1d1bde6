import { mkdir, rmdir } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { errnoOf } from './file-errors.js';
import { openIfThere } from './file-open.js';

/** Enough for the folders a busy store returns to; forgetting one costs an fsync, nothing else. */
const REMEMBERED_FOLDERS = 2_000;

/** Makes, syncs and prunes the folders below a root. */
export interface FileFolders {
  /** Makes a folder and its parents; every entry made or not known to be durable yet is synced. */
  ensure(folder: string): Promise<void>;
  /** Makes the entries of a folder durable (link, rename and unlink are durable only after this). */
  sync(folder: string): Promise<void>;
  /** Removes a folder and its parents as far as they are empty, never `root` itself. */
  prune(folder: string, root: string): Promise<void>;
}

/** @param options.fsync false leaves durability to the operating system; for tests and scratch stores */
export function createFileFolders(root: string, options: { fsync: boolean }): FileFolders {
  /** Folders whose entry in their parent has been synced by this process. */
  const durable = new Set<string>();

  async function sync(folder: string): Promise<void> {
    if (!options.fsync) return;
    const handle = await openIfThere(folder);
    // Pruned meanwhile: it has no entries left to make durable, and whoever needs it makes it again.
    if (handle === null) return;
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  async function ensure(folder: string): Promise<void> {
    const made = await makeFolders(folder);
    const isNew = (each: string): boolean =>
      made !== undefined && (each === made || each.startsWith(made + sep));
    // Below the root another process may have made it a moment ago and not synced it yet, so unknown counts
    // as new. The root and what is above it are the operator's, unless this call made them.
    for (let each = folder; each.startsWith(root + sep) || isNew(each); each = dirname(each)) {
      if (durable.has(each) && !isNew(each)) continue;
      await sync(dirname(each));
      if (durable.size >= REMEMBERED_FOLDERS) durable.clear();
      durable.add(each);
    }
  }

  async function prune(folder: string, end: string): Promise<void> {
    for (let each = folder; each !== end && each.startsWith(end + sep); each = dirname(each)) {
      durable.delete(each);
      try {
        await rmdir(each);
      } catch (error) {
        // Not empty, or gone already: whoever is using it keeps it.
        if (errnoOf(error) !== 'ENOENT') return;
      }
    }
  }

  return { ensure, sync, prune };
}

/** Somebody may prune a parent between our making it and using it, again and again; not for ever, though. */
const ATTEMPTS = 20;

/**
 * Makes a folder and its parents; resolves with the topmost one made. Node's own recursive mkdir is not used: below
 * a folder that is there but takes no entries (procfs) it spins for ever.
 */
async function makeFolders(folder: string): Promise<string | undefined> {
  let topmost: string | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      await mkdir(folder);
      return topmost ?? folder;
    } catch (error) {
      if (errnoOf(error) === 'EEXIST') return topmost;
      if (errnoOf(error) !== 'ENOENT' || attempt === ATTEMPTS || dirname(folder) === folder) throw error;
      topmost = (await makeFolders(dirname(folder))) ?? topmost;
    }
  }
}
