import { hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { retryingReads } from '../../ledger/retrying-reads.js';
import type { ObjectStore } from '../../store/object-store.js';
import { createSharedFiller } from '../beside/shared-filler.js';
import type { IndexAnswer, IndexCalls, LongCalls } from '../index-calls.js';
import { IndexError } from '../index-error.js';
import type { IndexState } from '../index-state.js';
import type { IndexFiles, IndexPlace, OpenedIndex } from '../open-index.js';
import { fillAll, type IndexFiller } from './index-filler.js';

export interface IndexOfStoreOptions {
  readonly store: ObjectStore;
  /** Where the index is, by the `storeId` of `StartIndex`. */
  readonly filesFor: (storeId: string) => IndexFiles;
  /** Default: in a worker. */
  readonly startIndex?: StartIndex | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds that the index reaches back, and that the service keeps results. */
  readonly reach: number;
  readonly retention: number;
  readonly maxBytes: number;
  readonly subscribers?: readonly string[] | undefined;
  /** Called when the index was opened. */
  readonly onOpened?: ((place: IndexPlace, isShared: boolean) => void) | undefined;
}

export type IndexOfStore = ReturnType<typeof openIndexOfStore>;

/** Bytes of an index in memory. */
const MAX_IN_MEMORY = 64 * 1024 * 1024;

interface Opened {
  readonly worker: IndexWorker;
  readonly filler: IndexFiller;
  /** Null for a store that has no marker yet. */
  readonly storeId: string | null;
}

/** The index of the store, whose worker is started by the first call, and again when it ended. */
export function openIndexOfStore(options: IndexOfStoreOptions) {
  const { store, filesFor, startIndex = startIndexWorker } = options;
  let opening: Promise<Opened> | null = null;
  let opened: Opened | null = null;
  let state: IndexState | null = null;
  let lines = 0;
  let isClosed = false;
  /** A reader takes some megabytes. */
  const aside = pLimit(1);
  /** Filling of the index that took the place of a shared one; null while there was none. */
  let instead: Promise<void> | null = null;

  function filesOf(storeId: string | null): IndexFiles {
    if (storeId === null) return { path: null };
    const { path, beside } = filesFor(storeId);
    return instead === null ? { path, beside } : { path };
  }

  async function open(): Promise<Opened> {
    const storeId = await idHere(store);
    const worker = await startIndex(filesOf(storeId), storeId ?? '');
    const maxBytes =
      worker.place.path === null ? Math.min(MAX_IN_MEMORY, options.maxBytes) : options.maxBytes;
    const { path } = worker.place;
    const fillOwn = async () => {
      // Commands beside a running receiver do without.
      const { createIndexFiller } = await import('./fill-index.js');
      return createIndexFiller({ ...options, store: retryingReads(store), index: worker, maxBytes });
    };
    const filler =
      worker.isShared && path !== null ? createSharedFiller(path, worker, store) : await fillOwn();
    // Until a store is marked its index has no place.
    if (storeId !== null) options.onOpened?.(worker.place, worker.isShared);
    opened = { worker, filler, storeId };
    return opened;
  }

  /** Whoever asks meanwhile waits for the same worker: the file is that of one. */
  function begin(ready: Promise<void> = Promise.resolve()): Promise<Opened> {
    opened = null;
    opening = ready.then(open).catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  }

  function current(): Promise<Opened> {
    if (isClosed) return Promise.reject(new Error('the index is closed'));
    return opening === null || opened?.worker.isEnded() ? begin() : opening;
  }

  /** A store that is marked after the index was opened has another identity. */
  async function reopenIfMarked(given: Opened): Promise<void> {
    if (given.storeId !== null || (await store.identity()) === null) return;
    if (opened === given) await begin(given.worker.close());
  }

  /**
   * When the file was lost, or the process that writes it has ended or does not answer, another index takes its place, and the work is done
   * again.
   */
  async function attempt<Result>(work: (given: Opened) => Promise<Result>): Promise<Result> {
    const given = await current();
    try {
      return await work(given);
    } catch (error) {
      if (!(error instanceof IndexError && error.isLost)) throw error;
      if (given.worker.isShared) {
        instead ??= begin(given.worker.close()).then(({ filler }) => fillAll(filler));
        await instead;
      }
      return work(await current());
    }
  }

  const call: IndexCalls['call'] = (name, ...values) => attempt(({ worker }) => worker.call(name, ...values));

  const callAside: LongCalls['callAside'] = async (signal, name, ...values) => {
    const { worker, storeId } = await current();
    const { path } = worker.place;
    if (path === null || worker.isShared) return call(name, ...values);
    return aside(async () => {
      signal?.throwIfAborted();
      const reader = await startIndex({ path: null, beside: path }, storeId ?? '');
      const end = () => void reader.close();
      signal?.addEventListener('abort', end);
      try {
        return await (reader.isShared ? reader : worker).call(name, ...values);
      } finally {
        signal?.removeEventListener('abort', end);
        await reader.close();
        signal?.throwIfAborted();
      }
    });
  };

  async function noteState({ worker }: Opened): Promise<void> {
    [state, lines] = await Promise.all([worker.call('state'), worker.call('countLines')]);
  }

  return {
    call,
    callAside,
    async takeNew(): Promise<void> {
      await reopenIfMarked(await current());
      await attempt(async (given) => {
        await given.filler.takeNew();
        await noteState(given);
      });
    },
    async *older(): AsyncGenerator<void> {
      const { worker, filler } = await current();
      if (worker.isShared) await attempt((given) => fillAll(given.filler));
      else yield* filler.older();
      await attempt(noteState);
    },
    relist: () => opened?.filler.relist(),
    /** Settles when the index of the store is open: all code that it takes is loaded. */
    async opened(): Promise<void> {
      await reopenIfMarked(await current());
      await current();
    },
    /** What the index had when what is new was last read; null before. */
    lastState: () => state,
    /** Lines that it had then. */
    lines: () => lines,
    /** Null before it was opened. */
    place: () => opened?.worker.place ?? null,
    /** Ends the worker. Calls reject from then on. */
    async close(): Promise<void> {
      isClosed = true;
      await opening?.then(
        ({ worker }) => worker.close(),
        () => undefined,
      );
    },
  };
}

/** A copy has the id of the store that it was made of: backups are asked beside a receiver. */
async function idHere(store: ObjectStore): Promise<string | null> {
  const id = await store.identity();
  return id && `${id}-${hash('sha256', store.location).slice(0, 8)}`;
}

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
 * @param storeId identity and place of the store that the log is in
 */
export type StartIndex = (files: IndexFiles, storeId: string) => Promise<IndexWorker>;

/** By way of the parent folder: the bundle has this module in `dist/chunks`, and the worker in `dist`. */
const WORKER = new URL('../index-worker.js', import.meta.url);

/** Rejects when the worker cannot be started. */
const startIndexWorker: StartIndex = async (files, storeId) => {
  const worker = new Worker(WORKER, { workerData: { files, storeId } });
  const waiting = new Map<number, Waiting>();
  let ended: IndexError | null = null;
  let last = 0;

  function end(message: string, isLost = false): void {
    ended ??= new IndexError(message, isLost);
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
    if ('isLost' in answer) reject?.(new IndexError(answer.message, answer.isLost));
    else resolve?.(answer.result as never);
    // It ends behind this answer.
    if ('isLost' in answer && answer.isLost) end(answer.message, true);
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
      // One that only reads may end within a question.
      if (ended === null && !result.isShared) await call('close').catch(() => undefined);
      await worker.terminate();
    },
  };
};
