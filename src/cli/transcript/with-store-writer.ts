import { openLedgerWriter } from '../../app/open-ledger-writer.js';
import { storeOptions } from '../../app/store/store-options.js';
import { type Config, loadConfig } from '../../config/config.js';
import type { Ledger } from '../../ledger/write/ledger.js';
import type { ObjectStore } from '../../store/object-store.js';
import { openStore } from '../../store/open-store.js';
import { measureStore, type OnStoreCall } from '../../store/probe/measure-store.js';
import { type Running, runOnStore } from '../shared/on-store/run-on-store.js';

export interface StoreWork extends Running {
  readonly config: Config;
  readonly store: ObjectStore;
  /** Writes nothing before its first line. The store is not proven. */
  readonly ledger: Ledger;
}

/** Runs work that asks what the store has and leaves a line in the ledger, and closes the store. Loads nothing of the index. */
export async function withStoreWriter<T>(work: (given: StoreWork) => Promise<T>): Promise<T> {
  const config = loadConfig('service');
  const open = async (onStoreCall: readonly OnStoreCall[]) => {
    const store = measureStore(await openStore(storeOptions(config)), onStoreCall);
    const ledger = openLedgerWriter(config, store);
    return {
      ...{ store, ledger },
      async close() {
        await ledger.close();
        await store.close();
      },
    };
  };
  return runOnStore(config, open, ({ store, ledger }, running) =>
    work({ config, store, ledger, ...running }),
  );
}
