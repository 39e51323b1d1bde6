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
 * Runs work that only reads the ledger, and closes the store.
 *
 * @param since the index must reach back to this. Default: `ledger.index.days`
 * @param wrapStore wraps the store, for example with shorter time-outs
 */
export async function withLedger<T>(
  work: (given: LedgerWork) => Promise<T>,
  { since, wrapStore }: Pick<OpenLedgerOptions, 'since' | 'wrapStore'> = {},
): Promise<T> {
  const config = loadConfig('service');
  const open = (onStoreCall: readonly OnStoreCall[]) =>
    openLedger(config, { onStoreCall, ...indexOfCommand(config), since, wrapStore });
  return runOnStore(config, open, ({ store, view }, running) => work({ config, store, view, ...running }));
}
