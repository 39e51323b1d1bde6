import { randomUUID } from 'node:crypto';
import { chmod, link, lstat, readdir, realpath, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { STORE_MARKER } from '../object-key.js';
import { StoreError, StoreGoneError } from '../object-store.js';
import { errnoOf, isAbsent } from './file-errors.js';
import { type GuardedRoot, makeDurably, syncFolder } from './file-folders.js';
import { openIfThere, openToWrite } from './open-file.js';

/** One of these at the top shows a store of a version that set no marker yet, or a restored backup of one. */
const OWN_LAYOUT = ['.meta', 'jobs', 'ledger'];

/** Made by `mkfs` at the top of a volume, so that an empty volume does not look empty. */
const MADE_BY_FILE_SYSTEM = 'lost+found';

const ABOUT = 'This folder is a store of Transcript Receiver. Without this file nothing is written to it.';

/**
 * The folder of a file store, known by a marker at its top. When the volume is unmounted or the folder removed
 * under a running process, the marker is gone, and nothing may be written to what is there instead.
 */
export interface FileRoot extends GuardedRoot {
  /** Must come before the first write: marks the folder, and makes it when missing. Costs nothing later. */
  claim(): Promise<void>;
}

interface KnownRoot {
  readonly id: string;
  /** Where the root lies; symbolic links on the way to it are the operator's business. */
  readonly realPath: string;
  /** Of the marker file: as long as it stays, its content need not be read again. */
  readonly fingerprint: string;
}

export function createFileRoot(path: string, options: { fsync: boolean }): FileRoot {
  const marker = join(path, STORE_MARKER);
  let known: KnownRoot | null = null;
  let claiming: Promise<void> | null = null;

  async function fingerprint(): Promise<string | null> {
    try {
      // Inode numbers are used again, change times are not.
      const { dev, ino, ctimeNs } = await lstat(marker, { bigint: true });
      return `${dev}:${ino}:${ctimeNs}`;
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
  }

  async function look(): Promise<KnownRoot | null> {
    const before = await fingerprint();
    const id = before === null ? null : await readMarker(marker);
    return before === null || id === null
      ? null
      : { id, realPath: await realpath(path), fingerprint: before };
  }

  async function claimFirst(): Promise<void> {
    known = await look();
    if (known !== null) return;
    await makeDurably(path, options);
    await refuseForeign(path);
    await closeToOthers(path);
    await writeMarker(path, options);
    known = await look();
    if (known === null) throw new StoreError('open', `${path} does not keep the marker ${STORE_MARKER}`);
  }

  async function check(): Promise<void> {
    if (known === null) {
      known = await look();
      return;
    }
    if ((await fingerprint()) === known.fingerprint) return;
    const found = await look();
    if (found === null) throw new StoreGoneError(goneMessage(path));
    if (found.id !== known.id) throw new StoreGoneError(replacedMessage(path));
    known = found;
  }

  return {
    path,
    check,

    async claim() {
      if (known !== null) return;
      claiming ??= claimFirst().finally(() => {
        claiming = null;
      });
      await claiming;
    },

    async guard(folder) {
      const real = await realpath(folder);
      const expected = join(known?.realPath ?? (await realpath(path)), relative(path, folder));
      // APFS gives names back in the form they were made in.
      if (real.normalize() === expected.normalize()) return;
      throw new StoreError(
        'store',
        `a symbolic link lies on the way to ${JSON.stringify(relative(path, folder))}; links are not followed`,
      );
    },
  };
}

function goneMessage(path: string): string {
  return (
    `${path} is not the store it was: its marker ${STORE_MARKER} is gone, as after the folder was emptied, removed or ` +
    'unmounted. Nothing is written there. Bring the folder back, or restart the receiver to begin a new store'
  );
}

function replacedMessage(path: string): string {
  return (
    `${path} is not the store it was: its marker ${STORE_MARKER} is that of another store. Nothing is written there. ` +
    'Bring the folder back, or restart the receiver to use this one'
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
  throw new StoreError('open', `${marker} is not a marker of a store: remove it to mark the folder anew`);
}

/** Another process may do the same at the same moment: the first link wins, with its content complete. */
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

/** A folder of somebody else's is more likely a slip in the configuration than meant as a store. */
async function refuseForeign(path: string): Promise<void> {
  const names = await readdir(path);
  if (OWN_LAYOUT.some((name) => names.includes(name))) return;
  const foreign = names.find((name) => !name.startsWith('.') && name !== MADE_BY_FILE_SYSTEM);
  if (foreign === undefined) return;
  throw new StoreError(
    'open',
    `${path} is no store and not empty (${JSON.stringify(foreign)} lies there): name a folder that is the store's alone`,
  );
}

/** Once, when the folder becomes a store: what an operator opens up later stays open. */
async function closeToOthers(path: string): Promise<void> {
  const { mode } = await lstat(path);
  if ((mode & 0o077) === 0) return;
  await chmod(path, 0o700).catch((error: unknown) => {
    // The folder of a mounted volume often belongs to somebody else, who decides about it.
    if (errnoOf(error) !== 'EPERM' && errnoOf(error) !== 'EROFS') throw error;
  });
}
