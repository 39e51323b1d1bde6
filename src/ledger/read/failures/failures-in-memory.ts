import { isFailure, settles } from '../../../domain/failure-rules.js';
import type { LedgerRow } from '../window/ledger-row.js';
import type { RowWindow } from '../window/row-window.js';
import { type FailingJob, isOfSameKind } from './failing-jobs.js';

/** The failures of the lines in memory that none of them settles. */
export function failuresInMemory(window: RowWindow): Map<string, Pick<FailingJob, 'first' | 'rows'>> {
  const failing = new Map<string, Pick<FailingJob, 'first' | 'rows'>>();
  for (const { rows } of window.hoursBefore())
    for (const row of rows) if (isFailure(row.outcome)) note(failing, row);
  for (const { rows } of failing.size === 0 ? [] : window.hoursBefore()) {
    for (const row of rows) {
      const known = row.job === null ? undefined : failing.get(row.job);
      if (known === undefined || isFailure(row.outcome)) continue;
      known.rows = known.rows.filter((failed) => !settles(timed(row), timed(failed)));
    }
  }
  return failing;
}

function note(failing: Map<string, Pick<FailingJob, 'first' | 'rows'>>, row: LedgerRow): void {
  if (row.job === null) return;
  const known = failing.get(row.job) ?? { first: row.received, rows: [] };
  failing.set(row.job, known);
  known.first = Math.min(known.first, row.received);
  const last = known.rows.find((other) => isOfSameKind(other, row));
  if (last !== undefined && last.received >= row.received) return;
  known.rows = [...known.rows.filter((other) => other !== last), row];
}

/** A failure can be written after what settles it: what does so was written after the failure was received. */
export function isSettledInMemory(window: RowWindow, failed: LedgerRow): boolean {
  for (const { rows } of window.hoursBefore()) {
    for (let index = rows.length - 1; index >= 0; index -= 1) {
      const row = rows[index];
      if (row === undefined || row.written < failed.received) return false;
      if (row.job === failed.job && settles(timed(row), timed(failed))) return true;
    }
  }
  return false;
}

function timed({ outcome, received }: LedgerRow) {
  return { outcome, time: received };
}
