import type { IndexFiller } from '../fill/index-filler.js';
import { type IndexCalls, IndexError } from '../index-calls.js';
import { type Ask, askWriter } from './asks.js';

/** Milliseconds that the writer has for what is new; while it builds the index it looks for that between two hours. */
const PATIENCE = 15_000;

/**
 * Keeps an index like the log that another process writes, by asking that process. One that does not answer may hang, and its index be old:
 * it counts as lost.
 *
 * @param path of the index
 */
export function createSharedFiller(path: string, index: IndexCalls): IndexFiller {
  async function ask(what: Ask, patience: number): Promise<void> {
    const end = await askWriter(path, what, { patience, isKept: () => index.call('isKept') });
    if (end !== 'done') throw new IndexError('lost', `the process that writes the index is ${end}`);
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
