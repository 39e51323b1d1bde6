import { Worker } from 'node:worker_threads';
import { type IndexAnswer, type IndexCalls, IndexError } from './index-calls.js';
import type { IndexFiles, OpenedIndex } from './open-index.js';

/** An index in a worker: no question and no batch of lines holds the event loop of this process. */
export interface IndexWorker extends IndexCalls, Omit<OpenedIndex, 'index'> {
  /** Whether the worker has ended: all calls are rejected. */
  isEnded(): boolean;
  /** Settles when the worker has ended. Calls that are under way are rejected. */
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: IndexError) => void;
}

/**
 * Opens the index of a store.
 *
 * @param storeId identity of the store that the log is in
 */
export type StartIndex = (files: IndexFiles, storeId: string) => Promise<IndexWorker>;

/** By way of the parent folder: the bundle has this module in `dist/chunks`, and the worker in `dist/index`. */
const WORKER = new URL('../index/index-worker.js', import.meta.url);

/** Rejects when the worker cannot be started. */
export const startIndexWorker: StartIndex = async (files, storeId) => {
  const worker = new Worker(WORKER, { workerData: { files, storeId } });
  const waiting = new Map<number, Waiting>();
  let ended: IndexError | null = null;
  let last = 0;

  function end(message: string): void {
    ended ??= new IndexError('other', message);
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  }

  const opened = new Promise<Omit<OpenedIndex, 'index'>>((resolve, reject) => {
    waiting.set(0, { resolve: resolve as Waiting['resolve'], reject });
  });
  worker.on('message', (answer: IndexAnswer) => {
    const { resolve, reject } = waiting.get(answer.id) ?? {};
    waiting.delete(answer.id);
    if (waiting.size === 0) worker.unref();
    if ('failure' in answer) reject?.(new IndexError(answer.failure, answer.message));
    else resolve?.(answer.result as never);
  });
  worker.on('error', (error) => end(`the worker of the index failed: ${String(error)}`));
  worker.on('exit', () => end('the worker of the index ended'));
  const result = await opened;

  const call: IndexCalls['call'] = (name, ...values) =>
    new Promise((resolve, reject) => {
      if (ended !== null) throw ended;
      last += 1;
      worker.postMessage({ id: last, name, values });
      waiting.set(last, { resolve: resolve as Waiting['resolve'], reject });
      // A process waits for the answers that it asked for, and not for the worker.
      worker.ref();
    });

  return {
    ...result,
    isEnded: () => ended !== null,
    call,
    async close() {
      if (ended === null) await call('close').catch(() => undefined);
      await worker.terminate();
    },
  };
};
