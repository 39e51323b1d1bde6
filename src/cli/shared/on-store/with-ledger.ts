import { indexOfCommand, type OpenLedgerOptions, openLedger } from '../../../app/open-ledger.js';
import { type Config, loadConfigWithoutCredentials } from '../../../config/config.js';
import { cacheFolder } from '../../../config/load/environment.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { runOnStore } from './run-on-store.js';
import type { StoreAdvice } from './store-advice.js';

export interface LedgerWork {
  readonly config: Config;
  readonly store: ObjectStore;
  readonly view: LedgerView;
  /** Aborted by a signal that ends processes; the second one ends the process at once. */
  readonly signal: AbortSignal;
}

/**
 * Runs work that only asks what the ledger says, and closes the store.
 *
 * @param since how far back it asks. Default: as far as the index usually reaches
 * @param patience milliseconds without an answer of the store after which it is given up on. Default: as long as its own attempts take
 */
export async function withLedger<T>(
  work: (given: LedgerWork) => Promise<T>,
  { since, patience }: Pick<OpenLedgerOptions, 'since' | 'patience'> = {},
): Promise<T> {
  const config = loadConfigWithoutCredentials();
  const open = (advice: StoreAdvice) =>
    openLedger(config, { ...advice, indexFiles: indexOfCommand(config, cacheFolder()), since, patience });
  return runOnStore(config, open, ({ store, view }, signal) => work({ config, store, view, signal }));
}
