import { SLOT } from '../../rollup/build-rollup.js';
import { createLastAccepted, type LastAcceptedTimes } from '../../rollup/last-accepted.js';
import type { LedgerRow } from '../window/ledger-row.js';
import { createFigures, type Figures } from './summary-figures.js';

/** The figures of rows that the window no longer holds, because there were too many. */
export interface DroppedRows {
  readonly last: LastAcceptedTimes;
  add(row: LedgerRow): void;
  /** Slots that begin in a range and have rows, in any order. */
  slots(since: number, until: number): Iterable<{ readonly start: number; readonly figures: Figures }>;
  /** Forgets the slots that end before an instant. */
  forgetBefore(time: number): void;
}

export function createDroppedRows(): DroppedRows {
  const slots = new Map<number, Figures>();
  const last = createLastAccepted();
  return {
    last,
    add(row) {
      const start = Math.floor(row.written / SLOT) * SLOT;
      const figures = slots.get(start) ?? createFigures();
      slots.set(start, figures);
      figures.add(row);
      last.add(row);
    },
    *slots(since, until) {
      for (const [start, figures] of slots) if (start >= since && start < until) yield { start, figures };
    },
    forgetBefore(time) {
      for (const start of slots.keys()) if (start + SLOT <= time) slots.delete(start);
    },
  };
}
