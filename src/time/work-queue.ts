import pLimit from 'p-limit';
import { cooperativeYield, type Pause } from './cooperative-yield.js';

/** Runs work that takes milliseconds, such as decoding a document; when is up to the caller. */
export type RunWork = <Result>(work: () => Result) => Promise<Result>;

export const runAtOnce: RunWork = async (work) => work();

/**
 * Runs work of several callers one piece after the other, with a pause before each where it is due. Without it, documents
 * that arrive together are decoded in one turn of the event loop: each caller pauses, and all continue at once.
 */
export function createWorkQueue(pause: Pause = cooperativeYield()): RunWork {
  const queue = pLimit(1);
  return (work) =>
    queue(async () => {
      await pause();
      return work();
    });
}
