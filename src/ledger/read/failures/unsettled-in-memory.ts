import { isFailure, settles } from '../../../domain/failure-rules.js';
import type { LedgerRow } from '../window/ledger-row.js';
import type { RowWindow } from '../window/row-window.js';

/**
 * The failing ones of some rows that no row in memory settles. A failure can be written after what settles it; that was written after
 * the failure was received.
 */
export function unsettledInMemory(window: RowWindow, rows: readonly LedgerRow[]): LedgerRow[] {
  const open = new Map<string, LedgerRow[]>();
  let first = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    if (row.job === null || !isFailure(row.outcome)) continue;
    open.set(row.job, [...(open.get(row.job) ?? []), row]);
    first = Math.min(first, row.received);
  }
  for (const row of open.size === 0 ? [] : rowsSince(window, first)) {
    const failed = row.job === null ? undefined : open.get(row.job);
    if (row.job === null || failed === undefined || isFailure(row.outcome)) continue;
    open.set(
      row.job,
      failed.filter((each) => !settles(timed(row), timed(each))),
    );
  }
  return [...open.values()].flat();
}

function* rowsSince(window: RowWindow, time: number): Generator<LedgerRow> {
  for (const { rows } of window.hoursBefore()) {
    for (let index = rows.length - 1; index >= 0; index -= 1) {
      const row = rows[index];
      if (row === undefined || row.written < time) return;
      yield row;
    }
  }
}

function timed({ outcome, received }: LedgerRow) {
  return { outcome, time: received };
}
