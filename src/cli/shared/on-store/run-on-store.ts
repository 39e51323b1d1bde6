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

export interface StoreNeeds {
  /** The store need not exist yet. Other work fails without a store rather than report that it is empty. */
  readonly mayBegin?: true | undefined;
}

/** Context of work on a store. */
export interface Running {
  /** Aborted by SIGINT, SIGTERM or SIGHUP; a second signal ends the process at once. */
  readonly signal: AbortSignal;
  /** Ended with the work, or before it prints. */
  readonly progress: Progress;
}

/**
 * Opens parts on the configured store, runs work on them, and closes them. Prints advice on store failures at the end. Rejects with
 * `UsageError` for problems that the receiver would answer with a status below 500.
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
