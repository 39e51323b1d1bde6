import type { LedgerLine } from '../domain/delivery.js';
import { isFailure } from '../domain/failure-rules.js';
import { LedgerFileError } from '../ledger/compact/ledger-file-error.js';
import { checkHour, openLedgerFile } from '../ledger/compact/open-ledger-file.js';
import type { ObjectStore } from '../store/object-store.js';
import type { RunWork } from '../time/work-queue.js';

/**
 * The failing lines of a compacted file, settled ones among them, in order of receipt. A row group
 * of lines is in memory at a time. Rejects with `LedgerFileError` for a missing or damaged file, and with `StoreError`.
 */
export async function* readFailingLines(
  store: ObjectStore,
  key: string,
  run?: RunWork,
): AsyncGenerator<LedgerLine> {
  const file = await openLedgerFile(store, key, undefined, run);
  if (file === null) throw new LedgerFileError(key, 'it is missing');
  checkHour(file);
  for (const group of file.rowGroups.keys()) {
    const { outcome } = await file.readColumns(group, ['outcome']);
    const rows = [...outcome.keys()].filter((row) => isFailure(outcome[row] ?? ''));
    if (rows.length > 0) yield* await file.readLines(group, rows);
  }
}
