import { hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { retryingReads } from '../../ledger/retrying-reads.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { IndexAnswer, IndexCalls, LongCalls } from '../index-calls.js';
import { IndexError } from '../index-error.js';
import type { IndexState } from '../index-state.js';
import type { IndexFiles, IndexPlace, OpenedIndex } from '../open-index.js';
import { createSharedFiller } from '../shared/shared-filler.js';
import { fillAll, type IndexFiller } from './index-filler.js';

export interface IndexOfStoreOptions {
  readonly store: ObjectStore;
  /** Paths of the index, by the `storeId` of `StartIndex`. */
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

/** The index of the store. The first call starts its worker; a call after the worker has ended starts another. */
export function openIndexOfStore(options: IndexOfStoreOptions) {
  const { store, filesFor, startIndex = startIndexWorker } = options;
  let opening: Promise<Opened> | null = null;
  let opened: Opened | null = null;
  let state: IndexState | null = null;
  let lines = 0;
  let isClosed = false;
  /** Limits calls in workers of their own: each takes some megabytes. */
  const oneAtATime = pLimit(1);
  /** Filling of the index that replaced a lost shared one; null while none did. */
  let replacement: Promise<void> | null = null;

  function filesOf(storeId: string | null): IndexFiles {
    if (storeId === null) return { path: null };
    const { path, sharedPath } = filesFor(storeId);
    return replacement === null ? { path, sharedPath } : { path };
  }

  async function open(): Promise<Opened> {
    const storeId = await idWithLocation(store);
    const worker = await startIndex(filesOf(storeId), storeId ?? '');
    const maxBytes =
      worker.place.path === null ? Math.min(MAX_IN_MEMORY, options.maxBytes) : options.maxBytes;
    const { path } = worker.place;
    const fillOwn = async () => {
      // Loaded on demand: commands that use the index of a running receiver do not need it.
      const { createIndexFiller } = await import('./fill-index.js');
      return createIndexFiller({ ...options, store: retryingReads(store), index: worker, maxBytes });
    };
    const filler =
      worker.isShared && path !== null ? createSharedFiller(path, worker, store) : await fillOwn();
    // The index of a store without a marker has no file.
    if (storeId !== null) options.onOpened?.(worker.place, worker.isShared);
    opened = { worker, filler, storeId };
    return opened;
  }

  /** Opens the index once for all concurrent callers: one worker owns the file. */
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

  /** Opens the index again when the store got its marker, and thus an identity, after the index was opened. */
  async function reopenIfMarked(given: Opened): Promise<void> {
    if (given.storeId !== null || (await store.identity()) === null) return;
    if (opened === given) await begin(given.worker.close());
  }

  /**
   * Repeats the work on a new index when the file was lost, or when the process that writes it has ended or does not answer.
   */
  async function attempt<Result>(work: (given: Opened) => Promise<Result>): Promise<Result> {
    const given = await current();
    try {
      return await work(given);
    } catch (error) {
      if (!(error instanceof IndexError && error.isLost)) throw error;
      if (given.worker.isShared) {
        replacement ??= begin(given.worker.close()).then(({ filler }) => fillAll(filler));
        await replacement;
      }
      return work(await current());
    }
  }

  const call: IndexCalls['call'] = (name, ...values) => attempt(({ worker }) => worker.call(name, ...values));

  const callInOwnWorker: LongCalls['callInOwnWorker'] = async (signal, name, ...values) => {
    const { worker, storeId } = await current();
    const { path } = worker.place;
    if (path === null || worker.isShared) return call(name, ...values);
    return oneAtATime(async () => {
      signal?.throwIfAborted();
      const reader = await startIndex({ path: null, sharedPath: path }, storeId ?? '');
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
    callInOwnWorker,
    async addNew(): Promise<void> {
      await reopenIfMarked(await current());
      await attempt(async (given) => {
        await given.filler.addNew();
        await noteState(given);
      });
    },
    async *addOlder(): AsyncGenerator<void> {
      const { worker, filler } = await current();
      if (worker.isShared) await attempt((given) => fillAll(given.filler));
      else yield* filler.addOlder();
      await attempt(noteState);
    },
    relist: () => opened?.filler.relist(),
    /** Resolves when the index is open and all of its code is loaded. */
    async opened(): Promise<void> {
      await reopenIfMarked(await current());
      await current();
    },
    /** The state of the index after the last read of new lines; null before the first. */
    lastState: () => state,
    /** Number of lines at that time. */
    lines: () => lines,
    /** Null before the index was opened. */
    place: () => opened?.worker.place ?? null,
    /** Ends the worker. Later calls reject. */
    async close(): Promise<void> {
      isClosed = true;
      await opening?.then(
        ({ worker }) => worker.close(),
        () => undefined,
      );
    },
  };
}

/** The store's id with a hash of its location: a copy has the same id, and a backup may be queried next to a receiver. */
async function idWithLocation(store: ObjectStore): Promise<string | null> {
  const id = await store.identity();
  return id && `${id}-${hash('sha256', store.location).slice(0, 8)}`;
}

/** An index in a worker, so that neither questions nor batches of lines block the event loop of this process. */
export interface IndexWorker extends IndexCalls, Omit<OpenedIndex, 'index'> {
  /** Whether the worker has ended; then all calls reject. */
  isEnded(): boolean;
  /** Resolves when the worker has ended. Calls in flight reject. */
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: IndexError) => void;
}

/**
 * Opens the index of a store.
 *
 * @param storeId identity and location of the store of the log
 */
export type StartIndex = (files: IndexFiles, storeId: string) => Promise<IndexWorker>;

/** Relative to the parent folder, because the bundle has this module in `dist/chunks` and the worker in `dist`. */
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
    // The worker ends after this answer.
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
      // The process stays alive for pending answers, not for the worker.
      worker.ref();
    });

  return {
    ...result,
    isEnded: () => ended !== null,
    call,
    async close() {
      // A worker that only reads may be terminated during a question.
      if (ended === null && !result.isShared) await call('close').catch(() => undefined);
      await worker.terminate();
    },
  };
};
