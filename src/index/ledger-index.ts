import type { DatabaseSync } from 'node:sqlite';
import { createApplySegments } from './apply/apply-segments.js';
import type { SegmentContent } from './apply/segment-content.js';
import { deleteHoursBefore } from './fill/delete-hours.js';
import { deleteFailuresBefore, freeShare, oldestHour, usedBytes } from './fill/trim-index.js';
import { inTransaction } from './in-transaction.js';
import { indexLost } from './index-error.js';
import { saveRange } from './index-state.js';
import { createLineClasses } from './line-classes.js';
import { deleteDatabase, isDamaged, openDatabase } from './open-database.js';
import { createIndexQuestions } from './queries/index-questions.js';

/** An object of a merged hour that is missing or damaged. */
export interface MergedFault {
  readonly key: string;
  /** When its hour began, in milliseconds since the epoch. */
  readonly hour: number;
  /** Number of its segments that may be lacking, in addition to those known to be missing. */
  readonly segments: number;
}

/** The index of a store. Every call is synchronous, so a service keeps it in a worker. */
export type LedgerIndex = ReturnType<typeof createLedgerIndex>;

function open(path: string, storeId: string) {
  const database = openDatabase(path, storeId);
  try {
    const classes = createLineClasses(database);
    return { database, classes, apply: createApplySegments(database, classes) };
  } catch (error) {
    database.close();
    throw error;
  }
}

function openOrReplace(path: string, storeId: string): ReturnType<typeof open> {
  try {
    return open(path, storeId);
  } catch (error) {
    if (!isDamaged(error)) throw error;
    deleteDatabase(path);
    return open(path, storeId);
  }
}

/** @param path `:memory:` for an index in memory */
export function createLedgerIndex(path: string, storeId: string) {
  const opened = openOrReplace(path, storeId);
  const { database } = opened;
  let deletion: Generator<void> | null = null;

  const close = () => {
    if (database.isOpen) database.close();
  };

  /** Runs work. Deletes a damaged file and throws `IndexError`, so that the caller opens a new index; other errors pass through. */
  function attempt<Result>(work: (given: ReturnType<typeof open>) => Result): Result {
    try {
      return work(opened);
    } catch (error) {
      if (!isDamaged(error)) throw error;
      close();
      deleteDatabase(path);
      throw indexLost();
    }
  }

  return {
    ...createIndexQuestions(attempt),
    apply: (segments: readonly SegmentContent[]): void => attempt(({ apply }) => apply(segments)),
    /** Position in an hour: the last number of each writer. */
    numbersOf: (hour: number): Readonly<Record<string, number>> => attempt(() => numbersOf(database, hour)),
    saveFaults: (faults: readonly MergedFault[]): void => attempt(() => saveFaults(database, faults)),
    /** Deletes the other faults of an hour. */
    keepFaults: (hour: number, keys: readonly string[]): void =>
      attempt(() => keepFaults(database, hour, keys)),
    saveRange: (times: Parameters<typeof saveRange>[1]): void => attempt(() => saveRange(database, times)),
    usedBytes: (limit: number): number => attempt(() => usedBytes(database, path, limit)),
    freeShare: (): number => freeShare(path),
    oldestHour: (): number | null => attempt(() => oldestHour(database)),
    /** Starts deleting the hours before one; `deleteSome` continues. */
    deleteBefore(hour: number): void {
      deletion = deleteHoursBefore(database, hour);
    },
    /** Deletes a batch of these hours. Returns whether anything is left. */
    deleteSome: (): boolean => attempt(() => deletion?.next().done === false),
    deleteFailuresBefore: (received: number): void => attempt(() => deleteFailuresBefore(database, received)),
    /** Whether the process that writes the file still runs: this one does. */
    isWriterAlive: (): boolean => true,
    close,
  };
}

function numbersOf(database: DatabaseSync, hour: number): Record<string, number> {
  const runs = database.prepare('SELECT writer, number FROM runs WHERE hour = ?').all(hour);
  return Object.fromEntries(runs.map(({ writer, number }) => [String(writer), Number(number)]));
}

function keepFaults(database: DatabaseSync, hour: number, keys: readonly string[]): void {
  const others = 'DELETE FROM faults WHERE hour = ? AND key NOT IN (SELECT value FROM json_each(?))';
  database.prepare(others).run(hour, JSON.stringify(keys));
}

function saveFaults(database: DatabaseSync, faults: readonly MergedFault[]): void {
  inTransaction(database, () => {
    const add = database.prepare('INSERT OR REPLACE INTO faults VALUES (?, ?, ?)');
    for (const { key, hour, segments } of faults) add.run(key, hour, segments);
  });
}
