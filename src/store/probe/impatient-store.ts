import { DeadlineError, withDeadline } from '../../lib/time/deadline.js';
import type { ObjectStore } from '../object-store.js';

/** Milliseconds: a store that hangs would hold up each of many reads until its time-outs. */
const PATIENCE = 15_000;

/**
 * A store for somebody who waits at a terminal: a read that is not answered within `patience` milliseconds, all its attempts included,
 * rejects with `DeadlineError`, and so does every later one at once. Writes are those of the store itself.
 *
 * @param patience default 15,000
 */
export function impatientStore(store: ObjectStore, patience = PATIENCE): ObjectStore {
  let silence: DeadlineError | null = null;

  async function within<T>(call: () => Promise<T>): Promise<T> {
    if (silence !== null) throw silence;
    try {
      return await withDeadline(call(), patience, `the store did not answer within ${patience} ms`);
    } catch (error) {
      if (error instanceof DeadlineError) silence = error;
      throw error;
    }
  }

  /** Each page has its own time: a listing may be long. */
  async function* listed<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
    const iterator = source[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await within(() => iterator.next());
        if (next.done) return;
        yield next.value;
      }
    } finally {
      // One that is silent would not return either.
      if (silence === null) await iterator.return?.();
    }
  }

  return {
    ...store,
    head: (key) => within(() => store.head(key)),
    read: (...args) => within(() => store.read(...args)),
    list: (...args) => listed(store.list(...args)),
    keys: (...args) => listed(store.keys(...args)),
    folders: (prefix) => listed(store.folders(prefix)),
    identity: () => within(() => store.identity()),
  };
}
