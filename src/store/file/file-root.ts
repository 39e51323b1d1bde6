import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, link, lstat, readdir, realpath, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { assertPinned } from '../assert-pinned.js';
import { STORE_MARKER } from '../object-key.js';
import { BlockedKeyError, StoreError, StoreGoneError } from '../object-store.js';
import { errnoOf, fileCall, ifAbsent } from './file-errors.js';
import { makeDurably } from './file-folders.js';
import { syncFolder } from './folder-sync.js';
import { openIfThere, openToWrite } from './open-file.js';

/** Top-level names that identify a store without a marker, such as a restored backup. */
const OWN_LAYOUT = ['.meta', 'jobs', 'ledger'];

/** `mkfs` creates it at the top of a volume; a folder with nothing else counts as empty. */
export const MADE_BY_FILE_SYSTEM = 'lost+found';

const ABOUT = 'This folder is a store of Transcript Receiver. Without this file nothing is written to it.';

export type FileRoot = ReturnType<typeof createFileRoot>;

interface KnownRoot {
  readonly id: string;
  /** Path without symbolic links, which are allowed above the root. */
  readonly realPath: string;
  /** Identity of the marker file: its content is read again only when this changes. */
  readonly fingerprint: string;
}

/**
 * The folder of a file store, identified by a marker at its top. When the volume is unmounted or the folder removed
 * under a running process, the marker is missing, and nothing may be written to whatever is there instead.
 *
 * @param options.id the id that the marker must have; null: any
 */
export function createFileRoot(path: string, options: { fsync: boolean; id?: string | null }) {
  const { id: pinned = null } = options;
  const marker = join(path, STORE_MARKER);
  let known: KnownRoot | null = null;
  let claiming: Promise<void> | null = null;

  async function fingerprint(): Promise<string | null> {
    const file = await lstat(marker, { bigint: true }).catch(ifAbsent(null));
    // Inode numbers are reused, change times are not.
    return file && `${file.dev}:${file.ino}:${file.ctimeNs}`;
  }

  async function identify(): Promise<KnownRoot | null> {
    const before = await fingerprint();
    const id = before === null ? null : await readMarker(marker);
    assertPinned(path, id, pinned);
    return before === null || id === null
      ? null
      : { id, realPath: await realpath(path), fingerprint: before };
  }

  async function claimFirst(): Promise<void> {
    // Listed before the marker is read: another process may mark the folder and write to it in between.
    const names = await readdir(path).catch(ifAbsent<string[]>([]));
    known = await identify();
    if (known !== null) return;
    refuseForeign(path, names);
    await makeDurably(path, options);
    await restrictToOwner(path);
    await writeMarker(path, options);
    known = await identify();
    if (known === null) throw new StoreError('open', `${path} does not keep the marker ${STORE_MARKER}`);
  }

  async function check(): Promise<void> {
    if (known === null) {
      known = await identify();
      return;
    }
    if ((await fingerprint()) === known.fingerprint) return;
    const found = await identify();
    if (found === null) throw new StoreGoneError(goneMessage(path));
    if (found.id !== known.id) throw new StoreGoneError(replacedMessage(path));
    known = found;
  }

  return {
    path,
    check,

    /** Id in the marker; null without one. Throws as `ObjectStore.identity` does. */
    async identity(): Promise<string | null> {
      await check();
      return known?.id ?? null;
    },

    /** Call it before writing. The first call creates the folder when it is missing, and marks it; later calls return immediately. */
    async claim(): Promise<void> {
      if (known !== null) return;
      claiming ??= claimFirst().finally(() => {
        claiming = null;
      });
      await claiming;
    },

    async guard(folder: string): Promise<void> {
      const real = await realpath(folder);
      const expected = join(known?.realPath ?? (await realpath(path)), relative(path, folder));
      // APFS returns names in the Unicode form in which they were created.
      if (real.normalize() === expected.normalize()) return;
      throw new BlockedKeyError(
        'store',
        `there is a symbolic link on the way to ${JSON.stringify(relative(path, folder))}; links are not followed`,
      );
    },
  };
}

function goneMessage(path: string): string {
  return (
    `${path} is not the store it was: its marker ${STORE_MARKER} is gone, as after the folder was emptied, removed or ` +
    'unmounted. Nothing is written there. Bring the folder back (mount its volume)'
  );
}

function replacedMessage(path: string): string {
  return (
    `${path} is not the store it was: its marker ${STORE_MARKER} is that of another store. Nothing is written there. ` +
    'Bring the former folder back (mount its volume)'
  );
}

async function readMarker(marker: string): Promise<string | null> {
  const file = await openIfThere(marker);
  if (file === null) return null;
  try {
    const { store } = JSON.parse(await file.readFile('utf8')) as { store?: unknown };
    if (typeof store === 'string') return store;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  } finally {
    await file.close();
  }
  throw new StoreError('open', `${marker} is not a marker of a store: restore it from a backup`);
}

/** Writes the marker. When another process does the same concurrently, the first link wins, with complete content. */
async function writeMarker(path: string, options: { fsync: boolean }): Promise<void> {
  const temporary = join(path, `${STORE_MARKER}.${randomUUID()}`);
  const file = await openToWrite(temporary);
  try {
    await file.writeFile(`${JSON.stringify({ store: randomUUID(), about: ABOUT })}\n`);
    if (options.fsync) await file.sync();
    await link(temporary, join(path, STORE_MARKER));
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  } finally {
    await file.close();
    await rm(temporary, { force: true });
  }
  if (options.fsync) await syncFolder(path);
}

/** Whether a folder holds a store; `unmarked`: one that has lost its marker. */
export async function findStore(path: string): Promise<'marked' | 'unmarked' | null> {
  const names = await fileCall('open', '', () => readdir(path).catch(ifAbsent<string[]>([])));
  if (names.includes(STORE_MARKER)) return 'marked';
  return OWN_LAYOUT.some((name) => names.includes(name)) ? 'unmarked' : null;
}

/** Throws `StoreError` for a folder with other files in it, and for one that cannot be made or written to. */
export async function assertFolderMayBegin(path: string): Promise<void> {
  await fileCall('open', '', async () => {
    refuseForeign(path, await readdir(path).catch(ifAbsent<string[]>([])));
    await assertWritable(path);
  });
}

/** Throws when the permissions of a folder, or of its nearest existing parent, do not allow creating files or folders in it. */
export async function assertWritable(path: string): Promise<void> {
  await access(await nearestExisting(path), constants.R_OK | constants.W_OK | constants.X_OK);
}

/** The folder, or its nearest existing parent. */
async function nearestExisting(path: string): Promise<string> {
  return (await lstat(path).catch(ifAbsent(null))) === null ? nearestExisting(dirname(path)) : path;
}

/** Throws for a folder with foreign content: it is more likely a configuration mistake than meant as a store. */
function refuseForeign(path: string, names: readonly string[]): void {
  if (OWN_LAYOUT.some((name) => names.includes(name))) return;
  const foreign = names.find((name) => !name.startsWith('.') && name !== MADE_BY_FILE_SYSTEM);
  if (foreign === undefined) return;
  throw new StoreError(
    'open',
    `${path} is neither a store nor empty (it holds ${JSON.stringify(foreign)}): name a folder for the store alone`,
  );
}

/** Restricts the mode of the folder, once, when it becomes a store. Later changes of an operator are kept. */
async function restrictToOwner(path: string): Promise<void> {
  const { mode } = await lstat(path);
  if ((mode & 0o077) === 0) return;
  await chmod(path, 0o700).catch((error: unknown) => {
    // The folder of a mounted volume often belongs to another user.
    if (errnoOf(error) !== 'EPERM' && errnoOf(error) !== 'EROFS') throw error;
  });
}
