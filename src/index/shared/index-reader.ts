import { statSync } from 'node:fs';
import { indexLost } from '../index-error.js';
import { createLineClasses } from '../line-classes.js';
import { isDamaged, openForReading } from '../open-database.js';
import { createIndexQuestions } from '../queries/index-questions.js';
import type { ReadableIndex } from '../readable-index.js';
import { isLocked } from './index-lock.js';

/** The questions of an index that another process writes. */
export type IndexReader = ReturnType<typeof createIndexReader>;

/** Opens an index that another process writes. Null when none does, and for a file of another build or store. */
export function openIndexReader(path: string, storeId: string): IndexReader | null {
  if (!isLocked(path)) return null;
  const database = openForReading(path, storeId);
  if (database === null) return null;
  try {
    return createIndexReader(path, { database, classes: createLineClasses(database) });
  } catch {
    database.close();
    return null;
  }
}

/** Questions throw `IndexError` when the file is damaged or was replaced by its writer; then the reader must not be used any more. */
function createIndexReader(path: string, index: ReadableIndex) {
  const { database, classes } = index;
  const file = fileOf(path);

  /** Runs a question on one consistent state of the file and its classes. */
  function attempt<Result>(work: (given: ReadableIndex) => Result): Result {
    if (fileOf(path) !== file) throw indexLost();
    try {
      database.exec('BEGIN');
      classes.reload();
      return work(index);
    } catch (error) {
      throw isDamaged(error) ? indexLost() : error;
    } finally {
      if (database.isTransaction) database.exec('ROLLBACK');
    }
  }

  return {
    ...createIndexQuestions(attempt),
    /** Whether the process that writes the file still runs. */
    isWriterAlive: (): boolean => isLocked(path),
    close: (): void => database.close(),
  };
}

/** Inode of the file, which changes when the file is deleted and created again. */
function fileOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? null;
}
