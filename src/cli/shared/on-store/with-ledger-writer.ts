import { indexOfCommand, openLedger } from '../../../app/open-ledger.js';
import { openLedgerWriter } from '../../../app/open-ledger-writer.js';
import { loadConfigWithoutCredentials } from '../../../config/config.js';
import type { Ledger } from '../../../ledger/write/ledger.js';
import { proveForWriting } from './prove-for-writing.js';
import { runOnStore } from './run-on-store.js';
import type { StoreAdvice } from './store-advice.js';
import type { LedgerWork } from './with-ledger.js';

export interface WriterWork extends LedgerWork {
  readonly ledger: Ledger;
}

/**
 * Runs an operator's act that changes the store and is a line of the ledger, without the service and without bodies, and closes the store.
 *
 * @param dryRun the work writes nothing, so the store is not probed
 */
export async function withLedgerWriter<T>(
  dryRun: boolean,
  work: (given: WriterWork) => Promise<T>,
): Promise<T> {
  const config = loadConfigWithoutCredentials();
  const open = async (advice: StoreAdvice) => {
    const opened = await openLedger(config, {
      ...advice,
      indexFiles: indexOfCommand(config),
    });
    const ledger = openLedgerWriter(config, opened.store);
    return {
      ...{ ...opened, ledger },
      async close() {
        await ledger.close();
        await opened.close();
      },
    };
  };
  return runOnStore(config, open, async ({ store, view, ledger }, running) => {
    if (!dryRun) await proveForWriting(config, store);
    return work({ config, store, view, ledger, ...running });
  });
}
