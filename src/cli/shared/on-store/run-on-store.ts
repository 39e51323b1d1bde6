import type { Config } from '../../../config/config.js';
import { Problem } from '../../../domain/problem.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { assertStoreExists } from '../../../store/open-store.js';
import type { OnStoreCall } from '../../../store/probe/measure-store.js';
import { assertLists } from '../../../store/whole-listings.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { printNotes } from '../format/print.js';
import { createProgress, type Progress } from '../format/progress.js';
import { untilSignal } from '../signal-handling.js';
import { createStoreAdvice } from './store-advice.js';

interface OnStore {
  readonly store: ObjectStore;
  close(): Promise<void>;
}

/** The store need not exist yet. Other work on an empty store would report that there is nothing. */
export interface StoreNeeds {
  readonly mayBegin?: true | undefined;
}

/** What every work on a store is given. */
export interface Running {
  /** Aborted by a signal that ends processes; the second one ends the process at once. */
  readonly signal: AbortSignal;
  /** Ends with the work, or before it prints something. */
  readonly progress: Progress;
}

/**
 * Opens parts on the configured store, runs work on them, and closes them. What is wrong with the store, and what to do about it, is
 * printed at the end. Rejects with `UsageError` for what the receiver would answer with a status below 500.
 */
export async function runOnStore<Opened extends OnStore, T>(
  config: Config,
  open: (onStoreCall: readonly OnStoreCall[]) => Promise<Opened>,
  work: (opened: Opened, running: Running) => Promise<T>,
  { mayBegin }: StoreNeeds = {},
): Promise<T> {
  const advice = createStoreAdvice();
  const opened = await open([advice.onStoreCall]);
  const progress = createProgress();
  try {
    return await untilSignal(EXIT.incomplete, async (signal) => {
      if (config.store.id !== null) await opened.store.identity();
      if (!mayBegin) await assertStoreExists(config.store.url);
      await assertLists(opened.store);
      return work(opened, { signal, progress });
    });
  } catch (error) {
    advice.onError(error);
    throw error instanceof Problem && error.status < 500 ? new UsageError(error.message) : error;
  } finally {
    progress.end();
    await opened.close();
    printNotes(...advice.lines());
  }
}
