import { indexOfCommand, type OpenLedgerOptions, openLedger } from '../../../app/open-ledger.js';
import { openLedgerWriter } from '../../../app/open-ledger-writer.js';
import { type Config, loadConfig } from '../../../config/config.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import type { Ledger } from '../../../ledger/write/ledger.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { proveForWriting } from './prove-for-writing.js';
import { type Running, runOnStore } from './run-on-store.js';
import type { StoreAdvice } from './store-advice.js';

export interface LedgerWork extends Running {
  readonly config: Config;
  readonly store: ObjectStore;
  readonly view: LedgerView;
  /** Writes nothing before its first line. */
  readonly ledger: Ledger;
}

interface LedgerNeeds extends Pick<OpenLedgerOptions, 'since' | 'asked'> {
  /** The work changes the store, which is proven first. */
  readonly writes?: boolean;
}

/**
 * Runs work on the store and its ledger, without the service and without bodies, and closes the store.
 *
 * @param since how far back it asks. Default: as far as the index usually reaches
 * @param asked the store as the work asks it, such as one that gives up sooner. Default: as it is
 */
export async function withLedger<T>(
  work: (given: LedgerWork) => Promise<T>,
  { since, asked, writes = false }: LedgerNeeds = {},
): Promise<T> {
  const config = loadConfig('service');
  const open = async (advice: StoreAdvice) => {
    const opened = await openLedger(config, { ...advice, indexFiles: indexOfCommand(config), since, asked });
    const { store, view } = opened;
    const ledger = openLedgerWriter(config, store);
    return {
      ...{ store, view, ledger },
      async close() {
        await ledger.close();
        await opened.close();
      },
    };
  };
  return runOnStore(config, open, async ({ store, view, ledger }, running) => {
    if (writes) await proveForWriting(config, store);
    return work({ config, store, view, ledger, ...running });
  });
}
