import { DeadlineError, withDeadline } from '../../lib/time/deadline.js';
import type { ObjectStore, PendingUpload } from '../object-store.js';

/** Milliseconds. Without it a hanging store would delay each of many reads until its own time-outs. */
const TIMEOUT = 15_000;

/**
 * A store whose calls reject with `DeadlineError` when they are not answered in time, including all attempts. After a read that timed out
 * every later read rejects immediately. A listing has that time for each page.
 *
 * @param timeout milliseconds; default 15,000
 */
export function boundedStore(store: ObjectStore, timeout = TIMEOUT): ObjectStore {
  let silence: DeadlineError | null = null;

  const bounded = <T>(operation: string, call: Promise<T>): Promise<T> =>
    withDeadline(call, timeout, `${operation}: the store did not answer within ${timeout} ms`);

  async function answered<T>(operation: string, call: () => Promise<T>): Promise<T> {
    if (silence !== null) throw silence;
    try {
      return await bounded(operation, call());
    } catch (error) {
      if (error instanceof DeadlineError) silence = error;
      throw error;
    }
  }

  async function* listed<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
    const iterator = source[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await answered('list', () => iterator.next());
        if (next.done) return;
        yield next.value;
      }
    } finally {
      // After a time-out the iterator would not return either.
      if (silence === null) await iterator.return?.();
    }
  }

  function boundedUpload(upload: PendingUpload): PendingUpload {
    return {
      write: (part) => bounded('write', upload.write(part)),
      complete: () => bounded('complete', upload.complete()),
      abort: () => bounded('abort', upload.abort()),
    };
  }

  const { tags } = store;
  return {
    ...store,
    head: (key) => answered('head', () => store.head(key)),
    read: (...args) => answered('read', () => store.read(...args)),
    list: (...args) => listed(store.list(...args)),
    keys: (...args) => listed(store.keys(...args)),
    folders: (prefix) => listed(store.folders(prefix)),
    identity: () => answered('identity', () => store.identity()),
    ...(tags && { tags: (key: string) => answered('tags', () => tags(key)) }),
    create: (...args) => bounded('create', store.create(...args)),
    startUpload: async (...args) => boundedUpload(await bounded('startUpload', store.startUpload(...args))),
    delete: (key) => bounded('delete', store.delete(key)),
    abortUploads: (folder) => bounded('abort', store.abortUploads(folder)),
  };
}
