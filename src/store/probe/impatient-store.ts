import { DeadlineError, withDeadline } from '../../lib/time/deadline.js';
import type { ObjectStore, PendingUpload } from '../object-store.js';

/** Milliseconds: a store that hangs would hold up each of many reads until its time-outs. */
const PATIENCE = 15_000;

/**
 * A store for somebody who waits: a call that is not answered within `patience` milliseconds, all its attempts included, rejects with
 * `DeadlineError`, and after a read that was not so does every later one at once. A listing has that time for each page.
 *
 * @param patience default 15,000
 */
export function impatientStore(store: ObjectStore, patience = PATIENCE): ObjectStore {
  let silence: DeadlineError | null = null;

  const bounded = <T>(operation: string, call: Promise<T>): Promise<T> =>
    withDeadline(call, patience, `${operation}: the store did not answer within ${patience} ms`);

  async function asked<T>(operation: string, call: () => Promise<T>): Promise<T> {
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
        const next = await asked('list', () => iterator.next());
        if (next.done) return;
        yield next.value;
      }
    } finally {
      // One that is silent would not return either.
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
    head: (key) => asked('head', () => store.head(key)),
    read: (...args) => asked('read', () => store.read(...args)),
    list: (...args) => listed(store.list(...args)),
    keys: (...args) => listed(store.keys(...args)),
    folders: (prefix) => listed(store.folders(prefix)),
    identity: () => asked('identity', () => store.identity()),
    ...(tags && { tags: (key: string) => asked('tags', () => tags(key)) }),
    create: (...args) => bounded('create', store.create(...args)),
    startUpload: async (...args) => boundedUpload(await bounded('startUpload', store.startUpload(...args))),
    delete: (key) => bounded('delete', store.delete(key)),
    abortUploads: (folder) => bounded('abort', store.abortUploads(folder)),
  };
}
