import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { CLASS_FIELDS } from './line-classes.js';
import { SCHEMA } from './schema.js';

/** Version of the rows: incremented when the same lines produce different rows. */
const LAYOUT = 5;

/**
 * Opens the index of a store. A file that is damaged, or has another layout or store, is replaced. Throws when the disk is full or
 * not writable.
 *
 * @param path `:memory:` for an index in memory
 * @param storeId identity of the store of the log
 */
export function openDatabase(path: string, storeId: string): DatabaseSync {
  const identity = identityOf(storeId);
  const known = path === ':memory:' ? null : openKnown(path, identity);
  if (known !== null) return known;
  if (path !== ':memory:') deleteDatabase(path);
  const database = open(path);
  database.exec(`BEGIN; ${SCHEMA}`);
  database.prepare(`INSERT INTO meta VALUES ('identity', ?)`).run(identity);
  database.exec('COMMIT');
  return database;
}

/**
 * Opens an index that another process writes, for reading only. Null for a file that cannot be read, is damaged, or has another layout or
 * store.
 */
export function openForReading(path: string, storeId: string): DatabaseSync | null {
  try {
    const database = new DatabaseSync(path, { readOnly: true, timeout: READING_WAITS });
    database.exec(CACHE);
    return ifKnown(database, identityOf(storeId));
  } catch {
    return null;
  }
}

/** Eight mebibytes. */
const CACHE = 'PRAGMA cache_size = -8192';

/** Milliseconds that a reader waits for the writer's locks, which are short. */
const READING_WAITS = 5_000;

function identityOf(storeId: string): string {
  return `${LAYOUT} ${hash('sha256', SCHEMA + CLASS_FIELDS.join()).slice(0, 16)} ${storeId}`;
}

function openKnown(path: string, identity: string): DatabaseSync | null {
  try {
    return ifKnown(open(path), identity);
  } catch (error) {
    if (isDamaged(error) || codeOf(error) === SQLITE_ERROR) return null;
    throw error;
  }
}

/** The database, or null when it has another layout or store; then it is closed. */
function ifKnown(database: DatabaseSync, identity: string): DatabaseSync | null {
  let found: unknown;
  try {
    found = database.prepare(`SELECT value FROM meta WHERE name = 'identity'`).get()?.value;
  } finally {
    if (found !== identity) database.close();
  }
  return found === identity ? database : null;
}

/** Opens a file with settings under which a crash of the machine may lose the last transactions, which the log still has. */
function open(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${CACHE}`);
  database.exec(
    'PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 16777216',
  );
  return database;
}

export function deleteDatabase(path: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(path + end, { force: true });
}

/** SQLITE_CORRUPT and SQLITE_NOTADB (https://www.sqlite.org/rescode.html). */
const DAMAGED: readonly number[] = [11, 26];
/** A table is missing. */
const SQLITE_ERROR = 1;

/** Code of an SQLite error; null for other errors. */
export function codeOf(error: unknown): number | null {
  return typeof error === 'object' && error !== null && 'errcode' in error
    ? Number(error.errcode) & 0xff
    : null;
}

/** Whether an error shows that the file is damaged, so that it must be deleted and built again. */
export function isDamaged(error: unknown): boolean {
  return DAMAGED.includes(codeOf(error) ?? 0);
}
