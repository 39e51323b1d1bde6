import type { IndexFiller } from '../fill/index-filler.js';
import type { IndexCalls } from '../index-calls.js';
import { askWriter } from './asks.js';

/** Milliseconds that the writer has for what is new; while it builds the index it looks for that between two hours. */
const PATIENCE = 15_000;

/**
 * Keeps an index like the log that another process writes, by asking that process.
 *
 * @param path of the index
 */
export function createSharedFiller(path: string, index: IndexCalls): IndexFiller {
  const isKept = () => index.call('isKept');
  return {
    relist: () => undefined,
    takeNew: () => askWriter(path, 'new', { patience: PATIENCE, isKept }),
    async *older() {
      await askWriter(path, 'whole', { patience: Number.POSITIVE_INFINITY, isKept });
      yield;
    },
  };
}
