import { openLedgerWriter } from '../../../app/open-ledger-writer.js';
import type { Ledger } from '../../../ledger/write/ledger.js';
import { proveForWriting } from './prove-for-writing.js';
import { type LedgerWork, withLedger } from './with-ledger.js';

export interface WriterWork extends LedgerWork {
  readonly ledger: Ledger;
}

/**
 * Runs work that writes ledger lines, without the speech service and the archive.
 *
 * @param dryRun the work writes nothing, so the store is not probed
 */
export function withLedgerWriter<T>(dryRun: boolean, work: (given: WriterWork) => Promise<T>): Promise<T> {
  return withLedger(async (given) => {
    const { config, store } = given;
    if (!dryRun) await proveForWriting(config, store);
    const ledger = openLedgerWriter(config, store);
    return work({ ...given, ledger }).finally(ledger.close);
  });
}
