import { isFailure } from '../../../domain/failure-rules.js';
import type { LedgerFile } from '../../parquet/open-ledger-file.js';
import { entryOf, type LogEntry } from '../log/log-entry.js';

/**
 * The failing lines of a compacted file in order, settled ones among them. A row group of lines is in memory at a time. Rejects with
 * `LedgerFileError` for a damaged file, and with `StoreError`.
 */
export async function* readFailingLines(file: LedgerFile): AsyncGenerator<LogEntry> {
  for (const group of file.rowGroups.keys()) {
    const { outcome } = await file.readColumns(group, ['outcome']);
    const rows = [...outcome.keys()].filter((row) => isFailure(outcome[row] ?? ''));
    if (rows.length === 0) continue;
    for (const { line, writtenAt } of await file.readLines(group, rows)) yield entryOf(line, writtenAt);
  }
}
