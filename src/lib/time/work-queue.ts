import pLimit from 'p-limit';
import { cooperativeYield, type Pause } from './cooperative-yield.js';

/**
 * Runs work of several callers one piece after the other, with a pause before each where it is due. Without it, documents
 * that arrive together are decoded in one turn of the event loop: each caller pauses, and all continue at once.
 */
export function createWorkQueue(pause: Pause = cooperativeYield()) {
  const queue = pLimit(1);
  return <Result>(work: () => Result): Promise<Result> =>
    queue(async () => {
      await pause();
      return work();
    });
}
