import type { IndexFiller } from '../fill/fill-index.js';
import { type IndexCalls, IndexError } from '../index-calls.js';
import { type Ask, askWriter } from './asks.js';

/** Milliseconds that the writer has for what is new; while it builds the index it looks for that between two hours. */
const PATIENCE = 15_000;

/**
 * Keeps an index like the log that another process writes, by asking that process. Where it does not answer, the index stays as it is, and its
 * extent says how far it reaches.
 *
 * @param path of the index
 */
export function createSharedFiller(path: string, index: IndexCalls): IndexFiller {
  async function ask(what: Ask, patience: number): Promise<boolean> {
    const end = await askWriter(path, what, { patience, isKept: () => index.call('isKept') });
    if (end === 'gone') throw new IndexError('lost', 'the process that wrote the index has ended');
    return end === 'done';
  }

  return {
    relist: () => undefined,
    async fill(_isDue, onNew) {
      const isAnswered = await ask('new', PATIENCE);
      await onNew?.();
      if (isAnswered) await ask('whole', Number.POSITIVE_INFINITY);
    },
  };
}
