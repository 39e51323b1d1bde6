import { lstat, mkdir, readdir, rmdir } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { StoreGoneError } from '../object-store.js';
import { errnoOf, ifAbsent } from './file-errors.js';
import { createSharedFolderSync, syncFolder } from './folder-sync.js';

/** Enough for the folders in frequent use; a forgotten folder costs one fsync. */
const REMEMBERED_FOLDERS = 2_000;

const FOLDER_MODE = 0o700;

/** Milliseconds. The writer of the first object in a folder writes its metadata before it creates the folder. */
const FIRST_WRITE = 60_000;

export type FileFolders = ReturnType<typeof createFileFolders>;

/** The root of the folders; see `FileRoot`. */
export interface GuardedRoot {
  readonly path: string;
  /** Throws `StoreError` when the folder is no longer the one that was claimed. */
  check(): Promise<void>;
  /** Throws `StoreError` when there is a symbolic link on the way from the root to `folder`. */
  guard(folder: string): Promise<void>;
}

/** Like `guard` for a folder that may be missing. Resolves to whether it exists. */
export function guardIfThere({ guard }: Pick<GuardedRoot, 'guard'>, folder: string): Promise<boolean> {
  return guard(folder).then(() => true, ifAbsent(false));
}

/**
 * Creates, syncs and prunes the folders below a root.
 *
 * @param options.fsync false leaves durability to the operating system; for tests and scratch stores
 */
export function createFileFolders({ path: root, check, guard }: GuardedRoot, { fsync }: { fsync: boolean }) {
  /** Folders whose entry in their parent has been synced by this process. */
  const durable = new Set<string>();
  const protectedFolders = new Set<string>();
  const sharedSync = createSharedFolderSync();

  /** Makes the entries of a folder durable (link, rename and unlink are durable only after this). */
  async function sync(folder: string): Promise<void> {
    if (fsync) await sharedSync(folder);
  }

  /** Creates one folder. Checks the parent first: `mkdir` would follow links, and would succeed in whatever is mounted at the root. */
  async function makeOne(folder: string): Promise<void> {
    if (dirname(folder) === root) await check();
    else await guard(dirname(folder));
    if (protectedFolders.has(folder) || isLayoutFolder(root, folder)) await assertFolderNotGone(root, folder);
    try {
      await mkdir(folder, FOLDER_MODE);
    } catch (error) {
      if (errnoOf(error) === 'EEXIST') await guard(folder);
      throw error;
    }
  }

  /** Whether this process made the folder durable before and it still exists. */
  async function isDurable(folder: string): Promise<boolean> {
    if (!durable.has(folder)) return false;
    try {
      await guard(folder);
      return true;
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return false;
      throw error;
    }
  }

  /**
   * Creates a folder and its parents below the root, never the root itself. Syncs every entry that is new or not known
   * to be durable. Throws `StoreError` when there is a symbolic link on the way.
   */
  async function ensure(folder: string): Promise<void> {
    if (await isDurable(folder)) return;
    const made = await makeFolders(folder, root, makeOne);
    const isNew = (each: string): boolean =>
      made !== undefined && (each === made || each.startsWith(made + sep));
    // Another process may have created it and not synced it yet, so an unknown folder counts as new.
    for (let each = folder; each.startsWith(root + sep); each = dirname(each)) {
      if (durable.has(each) && !isNew(each)) continue;
      await sync(dirname(each));
      if (durable.size >= REMEMBERED_FOLDERS) durable.clear();
      durable.add(each);
    }
  }

  /**
   * Removes a folder and its parents as far as they are empty, never `end` itself. A folder with remaining metadata is kept: if it were
   * missing, metadata of a killed write would look like that of lost objects (`assertNotGone`).
   */
  async function prune(folder: string, end: string): Promise<void> {
    for (let each = folder; each !== end && each.startsWith(end + sep); each = dirname(each)) {
      if (await isThere(metaOf(root, each))) return;
      durable.delete(each);
      try {
        await rmdir(each);
      } catch (error) {
        // Any other error: the folder is not empty, so it is in use.
        if (errnoOf(error) !== 'ENOENT') return;
      }
    }
  }

  /**
   * From now on `ensure` throws instead of creating this folder again when it had objects. For folders of the layout, directly below the
   * root, it always does.
   */
  function protect(folder: string): void {
    protectedFolders.add(folder);
  }

  return { ensure, protect, sync, prune };
}

/** Whether a folder belongs to the layout, such as `ledger`: it is directly below the root, and its name has no leading dot. */
function isLayoutFolder(root: string, folder: string): boolean {
  return dirname(folder) === root && !basename(folder).startsWith('.');
}

/** Throws `StoreGoneError` for a folder of the layout that is missing although it had objects. Any other folder may be missing. */
export async function assertListable(root: string, folder: string): Promise<void> {
  if (isLayoutFolder(root, folder)) await assertFolderNotGone(root, folder);
}

async function assertFolderNotGone(root: string, folder: string): Promise<void> {
  if (!(await isThere(folder))) await assertNotGone(root, folder, FIRST_WRITE);
}

function metaOf(root: string, folder: string): string {
  return join(root, '.meta', relative(root, folder));
}

function isThere(folder: string): Promise<boolean> {
  return lstat(folder).then(() => true, ifAbsent(false));
}

/** Creates a folder with all its parents, and syncs the new entries. */
export async function makeDurably(folder: string, { fsync }: { fsync: boolean }): Promise<void> {
  const topmost = await makeFolders(folder, '', (each) => mkdir(each, FOLDER_MODE));
  if (topmost === undefined || !fsync) return;
  for (let each = folder; ; each = dirname(each)) {
    await syncFolder(dirname(each));
    if (each === topmost) return;
  }
}

/** Attempts at creating a folder: another process may prune a parent before it is used. */
const ATTEMPTS = 20;

/**
 * Creates a folder and its parents below `end`; resolves with the topmost new one. Node's own recursive mkdir is not
 * used: below an existing folder that takes no entries (procfs) it never ends.
 */
async function makeFolders(
  folder: string,
  end: string,
  make: (folder: string) => Promise<unknown>,
): Promise<string | undefined> {
  let topmost: string | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      await make(folder);
      return topmost ?? folder;
    } catch (error) {
      if (errnoOf(error) === 'EEXIST') return topmost;
      const parent = dirname(folder);
      const isTop = parent === end || parent === folder;
      if (errnoOf(error) !== 'ENOENT' || attempt === ATTEMPTS || isTop) throw error;
      topmost = (await makeFolders(parent, end, make)) ?? topmost;
    }
  }
}

/**
 * Throws `StoreGoneError` when the metadata of objects in a missing folder still exists.
 *
 * @param age minimum age of the metadata, in milliseconds
 */
export async function assertNotGone(root: string, folder: string, age: number): Promise<void> {
  const meta = metaOf(root, folder);
  const newest = Date.now() - age;
  for (const name of await readdir(meta).catch(ifAbsent<string[]>([]))) {
    const entry = await lstat(join(meta, name)).catch(ifAbsent(null));
    // Not every file system has creation times.
    if (entry !== null && (entry.birthtimeMs || entry.mtimeMs) <= newest)
      throw new StoreGoneError(`${folder} is gone, and objects were in it: bring it back`);
  }
}
