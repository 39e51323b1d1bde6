import type { DatabaseSync } from 'node:sqlite';
import { createApplySegments } from './apply/apply-segments.js';
import type { SegmentContent } from './apply/segment-content.js';
import { deleteBefore, deleteFailuresBefore, freeShare, oldestHour, usedBytes } from './fill/trim-index.js';
import { type IndexRange, saveRange } from './index-state.js';
import { createLineClasses } from './line-classes.js';
import { deleteDatabase, IndexLostError, isDamaged, openDatabase } from './open-database.js';
import { createIndexQuestions } from './queries/index-questions.js';

/** How far an hour is in the index. */
export interface IndexedHour {
  /** It was read to its end after nothing could appear in it any more. */
  readonly isFinished: boolean;
  /** The last number of each writer. */
  readonly numbers: Readonly<Record<string, number>>;
}

/** The index of a store. Every call is synchronous, so that it belongs into a worker. */
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
    hour: (hour: number): IndexedHour => step(({ database }) => readHour(database, hour)),
    finishHour: (hour: number): void =>
      step(({ database }) => void database.prepare('INSERT OR IGNORE INTO hours VALUES (?)').run(hour)),
    saveRange: (range: IndexRange): void => step(({ database }) => saveRange(database, range)),
    usedBytes: (): number => step(({ database }) => usedBytes(database)),
    freeShare: (): number => freeShare(path),
    oldestHour: (): number | null => step(({ database }) => oldestHour(database)),
    deleteBefore: (hour: number): void => step(({ database }) => deleteBefore(database, hour)),
    deleteFailuresBefore: (received: number): void =>
      step(({ database }) => deleteFailuresBefore(database, received)),
    /** Whether a process still writes the file. */
    isKept: (): boolean => true,
    close: (): void => opened?.database.close(),
  };
}

function readHour(database: DatabaseSync, hour: number): IndexedHour {
  const finished = database.prepare('SELECT 1 FROM hours WHERE hour = ?').get(hour);
  const runs = database.prepare('SELECT writer, number FROM runs WHERE hour = ?').all(hour);
  const numbers = runs.map(({ writer, number }) => [String(writer), Number(number)] as const);
  return { isFinished: finished !== undefined, numbers: Object.fromEntries(numbers) };
}
