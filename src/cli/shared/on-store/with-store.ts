import { storeOptions } from '../../../app/store/store-options.js';
import { type Config, loadConfigWithoutCredentials } from '../../../config/config.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { openStore } from '../../../store/open-store.js';
import { measureStore } from '../../../store/probe/measure-store.js';
import { runOnStore } from './run-on-store.js';
import type { StoreAdvice } from './store-advice.js';

export interface StoreWork {
  readonly config: Config;
  readonly store: ObjectStore;
  /** Aborted by a signal that ends processes; the second one ends the process at once. */
  readonly signal: AbortSignal;
}

/** Runs work that only asks what the store has, without the ledger, and closes the store. */
export async function withStore<T>(work: (given: StoreWork) => Promise<T>): Promise<T> {
  const config = loadConfigWithoutCredentials();
  const open = async ({ onStoreCall }: StoreAdvice) => {
    const store = measureStore(await openStore(storeOptions(config)), onStoreCall);
    return { store, close: () => store.close() };
  };
  return runOnStore(config, open, ({ store }, signal) => work({ config, store, signal }));
}
