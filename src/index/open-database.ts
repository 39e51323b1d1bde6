import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { CLASS_FIELDS } from './line-classes.js';
import { SCHEMA } from './schema.js';

/** Grows when the same lines give other rows. */
const LAYOUT = 4;

/**
 * Opens the index of a store. A file that is damaged, of another layout or of another store is deleted, and a new one begun. Throws when
 * the disk is full or may not be written.
 *
 * @param path `:memory:` for none
 * @param storeId identity of the store that the log is in
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
 * Opens the index of a store that another process writes, for reading alone. Null for a file that is damaged, of another layout or of
 * another store, and for one that cannot be read.
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

/** Milliseconds for which a reader waits for the writer's locks, which are short. */
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

/** Null, and closed, for a database of another layout or store. */
function ifKnown(database: DatabaseSync, identity: string): DatabaseSync | null {
  let found: unknown;
  try {
    found = database.prepare(`SELECT value FROM meta WHERE name = 'identity'`).get()?.value;
  } finally {
    if (found !== identity) database.close();
  }
  return found === identity ? database : null;
}

/** The log has everything: a crash of the machine may lose the last transactions, but not damage the file. */
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

/** The number of an error of SQLite; null for other errors. */
export function codeOf(error: unknown): number | null {
  return typeof error === 'object' && error !== null && 'errcode' in error
    ? Number(error.errcode) & 0xff
    : null;
}

/** Whether an error of SQLite says that the file is damaged: it is then deleted and built again. */
export function isDamaged(error: unknown): boolean {
  return DAMAGED.includes(codeOf(error) ?? 0);
}
