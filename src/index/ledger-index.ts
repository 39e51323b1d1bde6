import type { DatabaseSync } from 'node:sqlite';
import { createApplySegments } from './apply/apply-segments.js';
import { readContent } from './apply/read-content.js';
import type { SegmentContent } from './apply/segment-content.js';
import { createHourDeletion } from './fill/delete-hours.js';
import { deleteFailuresBefore, freeShare, oldestHour, usedBytes } from './fill/trim-index.js';
import { inTransaction } from './in-transaction.js';
import { type IndexRange, reopenHours, saveRange } from './index-state.js';
import { createLineClasses } from './line-classes.js';
import { deleteDatabase, IndexLostError, isDamaged, openDatabase } from './open-database.js';
import { createIndexQuestions } from './queries/index-questions.js';

/** Progress of the index within an hour. */
export interface IndexedHour {
  /** It was read to its end after nothing could appear in it any more. */
  readonly isFinished: boolean;
  /** It was begun to delete it. */
  readonly isDeleted: boolean;
  /** The last number of each writer. */
  readonly numbers: Readonly<Record<string, number>>;
}

/** An object of a merged hour that is missing or damaged. */
export interface MergedFault {
  readonly key: string;
  /** The number of its segments that may be lacking, beside those that are known to be missing. */
  readonly segments: number;
}

/** The index of a store. Every call is synchronous, so that it belongs into a worker. */
export type LedgerIndex = ReturnType<typeof createLedgerIndex>;

function open(path: string, storeId: string) {
  const database = openDatabase(path, storeId);
  try {
    const classes = createLineClasses(database);
    const deletion = createHourDeletion(database);
    return { database, classes, deletion, apply: createApplySegments(database, classes) };
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

/** @param path `:memory:` for none */
export function createLedgerIndex(path: string, storeId: string) {
  /** Null after damage, until the next call begins a new file: that can fail, such as on a full disk. */
  let opened: ReturnType<typeof open> | null = openOrReplace(path, storeId);
  /** Set when a question found the file damaged, until what fills the index knows. */
  let lost: unknown = null;

  /** Throws `IndexLostError` after it has deleted a damaged file, and else what the work throws. */
  function attempt<Result>(work: (given: ReturnType<typeof open>) => Result): Result {
    try {
      opened ??= openOrReplace(path, storeId);
      return work(opened);
    } catch (error) {
      if (!isDamaged(error)) throw error;
      opened?.database.close();
      opened = null;
      deleteDatabase(path);
      lost = error;
      throw new IndexLostError(error);
    }
  }

  /** A step of what fills the index. Throws as well when the index was lost since the step before. */
  function step<Result>(work: (given: ReturnType<typeof open>) => Result): Result {
    try {
      if (lost !== null) throw new IndexLostError(lost);
      return attempt(work);
    } finally {
      lost = null;
    }
  }

  return {
    ...createIndexQuestions(attempt),
    apply: (segments: readonly SegmentContent[]): void => step(({ apply }) => apply(segments)),
    /** The lines of a segment that cannot be read. */
    countUnreadable: (segment: Parameters<typeof readContent>[0]): number =>
      readContent(segment).unread.lines,
    hour: (hour: number): IndexedHour => step(({ database }) => readHour(database, hour)),
    finishHour: (hour: number, faults: readonly MergedFault[] = []): void =>
      step(({ database }) => finishHour(database, hour, faults)),
    /** The hours from an instant on are to be read to their end again. */
    reopenHours: (from: number, at: number): void => step(({ database }) => reopenHours(database, from, at)),
    saveRange: (range: IndexRange): void => step(({ database }) => saveRange(database, range)),
    usedBytes: (limit: number): number => step(({ database }) => usedBytes(database, path, limit)),
    freeShare: (): number => freeShare(path),
    oldestHour: (): number | null => step(({ database }) => oldestHour(database)),
    deleteHour: (hour: number): void => step(({ deletion }) => deletion.begin(hour)),
    deleteBefore: (hour: number): void => step(({ deletion }) => deletion.beginBefore(hour)),
    /** Deletes a part of what was begun to be deleted. Returns whether anything is left. */
    deleteSome: (): boolean => step(({ deletion }) => deletion.step()),
    deleteFailuresBefore: (received: number): void =>
      step(({ database }) => deleteFailuresBefore(database, received)),
    /** Whether a process still writes the file. */
    isKept: (): boolean => true,
    close: (): void => opened?.database.close(),
  };
}

function readHour(database: DatabaseSync, hour: number): IndexedHour {
  const known = database.prepare('SELECT is_deleted FROM hours WHERE hour = ?').get(hour)?.is_deleted;
  const runs = database.prepare('SELECT writer, number FROM runs WHERE hour = ?').all(hour);
  const numbers = runs.map(({ writer, number }) => [String(writer), Number(number)] as const);
  return { isFinished: known === 0, isDeleted: known === 1, numbers: Object.fromEntries(numbers) };
}

function finishHour(database: DatabaseSync, hour: number, faults: readonly MergedFault[]): void {
  inTransaction(database, () => {
    const add = database.prepare('INSERT OR REPLACE INTO faults VALUES (?, ?, ?)');
    for (const { key, segments } of faults) add.run(key, hour, segments);
    database.prepare('INSERT OR REPLACE INTO hours VALUES (?, 0)').run(hour);
  });
}
