import { indexOfCommand, type OpenLedgerOptions, openLedger } from '../../../app/open-ledger.js';
import { type Config, loadConfig } from '../../../config/config.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import type { ObjectStore } from '../../../store/object-store.js';
import type { OnStoreCall } from '../../../store/probe/measure-store.js';
import { type Running, runOnStore } from './run-on-store.js';

export interface LedgerWork extends Running {
  readonly config: Config;
  readonly store: ObjectStore;
  readonly view: LedgerView;
}

/**
 * Runs work that only asks what the ledger says, and closes the store.
 *
 * @param since how far back it asks. Default: as far as the index usually reaches
 * @param asked the store as the work asks it, such as one that gives up sooner. Default: as it is
 */
export async function withLedger<T>(
  work: (given: LedgerWork) => Promise<T>,
  { since, asked }: Pick<OpenLedgerOptions, 'since' | 'asked'> = {},
): Promise<T> {
  const config = loadConfig('service');
  const open = (onStoreCall: readonly OnStoreCall[]) =>
    openLedger(config, { onStoreCall, ...indexOfCommand(config), since, asked });
  return runOnStore(config, open, ({ store, view }, running) => work({ config, store, view, ...running }));
}
