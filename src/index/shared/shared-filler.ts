import { assertListsLedger } from '../../ledger/retrying-reads.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { IndexFiller } from '../fill/index-filler.js';
import type { IndexCalls } from '../index-calls.js';
import { IndexError } from '../index-error.js';
import { type Ask, askWriter } from './asks.js';

/** Milliseconds that the writer has for what is new; while it builds the index it looks for that between two hours. */
const PATIENCE = 15_000;

/**
 * Keeps an index like the log that another process writes, by asking that process.
 *
 * @param path of the index
 */
export function createSharedFiller(path: string, index: IndexCalls, store: ObjectStore): IndexFiller {
  const isKept = () => index.call('isKept');

  async function ask(what: Ask, patience: number): Promise<void> {
    if ((await askWriter(path, what, { patience, isKept })) === 'done') return;
    // What is wrong with the store this process meets as well.
    await assertListsLedger(store);
    throw new IndexError('the process that keeps the index could not read the ledger; its log says why');
  }

  return {
    relist: () => undefined,
    takeNew: () => ask('new', PATIENCE),
    async *older() {
      await ask('whole', Number.POSITIVE_INFINITY);
      yield;
    },
  };
}
