import { setImmediate as immediate } from 'node:timers/promises';
import type { LedgerRow } from './ledger-row.js';
import type { RowWindow } from './row-window.js';

/** Jobs whose last word is a failure. */
export interface OpenFailures {
  /** The line that failed of each job, newest first; as many as were asked for. */
  readonly rows: readonly LedgerRow[];
  /** All of them, by outcome. */
  readonly counts: Readonly<Record<string, number>>;
}

const TROUBLE = new Set(['failed', 'unrecoverable', 'refused', 'conflict']);
const SETTLED = new Set(['stored', 'duplicate', 'recovered', 'released', 'noted', 'erased']);
/** Jobs looked after at once; a sender that is refused all day long brings more. */
const MAX_JOBS = 10_000;
/** Rows between two turns of the event loop: some 5 ms. */
const SLICE = 20_000;

/**
 * Looks through what is in memory. The ledger tells of failures line by line; one that was repaired since is
 * none any more. Only erasing settles a conflict: somebody has to decide between the two.
 */
export async function findOpenFailures(window: RowWindow, limit: number): Promise<OpenFailures> {
  const failing = new Map<string, LedgerRow>();
  await eachRow(window, (row) => {
    if (row.job === null || !TROUBLE.has(row.outcome)) return;
    const known = failing.get(row.job);
    if (known === undefined && failing.size < MAX_JOBS) failing.set(row.job, row);
    else if (known !== undefined && row.outcome === 'conflict' && known.outcome !== 'conflict')
      failing.set(row.job, row);
  });
  if (failing.size > 0) await eachRow(window, (row) => settle(failing, row));
  const rows = [...failing.values()].sort((a, b) => b.time - a.time);
  return { rows: rows.slice(0, limit), counts: countOutcomes(rows) };
}

function settle(failing: Map<string, LedgerRow>, { job, outcome, time }: LedgerRow): void {
  if (job === null || !SETTLED.has(outcome)) return;
  const failure = failing.get(job);
  if (failure === undefined || time < failure.time) return;
  if (failure.outcome !== 'conflict' || outcome === 'erased') failing.delete(job);
}

function countOutcomes(rows: readonly LedgerRow[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { outcome } of rows) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** Newest first. */
async function eachRow(window: RowWindow, visit: (row: LedgerRow) => void): Promise<void> {
  let seen = 0;
  for (const { rows } of window.hoursBefore()) {
    for (let index = rows.length - 1; index >= 0; index -= 1) {
      const row = rows[index];
      if (row) visit(row);
      seen += 1;
      if (seen % SLICE === 0) await immediate();
    }
  }
}
