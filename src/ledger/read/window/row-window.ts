import { setImmediate as immediate } from 'node:timers/promises';
import { HOUR } from '../../hours.js';
import { beforeInstant, comparePositions, type LogPosition } from '../log/log-position.js';
import type { LedgerRow } from './ledger-row.js';

/** Rows in memory, in the order of writing, by the hour of it, so that dropping old hours is cheap. */
export interface RowWindow {
  readonly size: number;
  /** Estimated bytes of the rows. */
  readonly bytes: number;
  /** Adds rows in any order; duplicates are dropped. */
  add(rows: LedgerRow[]): void;
  /**
   * Rows before a position: hours newest first, each with its rows oldest first; the first `count` of them are before
   * the position. By the hour, because a generator step per row would cost more than the search itself.
   */
  hoursBefore(
    before?: LogPosition,
  ): Generator<{ readonly rows: readonly LedgerRow[]; readonly count: number }>;
  /** Drops what was written before an instant. */
  dropBefore(time: number): void;
  /** Drops the oldest rows beyond this number of bytes. Returns the instant from which on all rows are kept; null when none was dropped. */
  dropOver(maxBytes: number): number | null;
}

/** @param onDrop called with the rows that are dropped, oldest first */
export function createRowWindow(onDrop: (rows: readonly LedgerRow[]) => void = () => undefined): RowWindow {
  const hours = new Map<number, LedgerRow[]>();
  let size = 0;
  let bytes = 0;

  const hoursDescending = () => [...hours.keys()].sort((a, b) => b - a);

  function setHour(hour: number, rows: LedgerRow[], oldLength = hours.get(hour)?.length ?? 0): void {
    size += rows.length - oldLength;
    if (rows.length > 0) hours.set(hour, rows);
    else hours.delete(hour);
  }

  function dropFirst(hour: number, count: number): void {
    const rows = hours.get(hour) ?? [];
    if (count <= 0) return;
    const dropped = rows.slice(0, count);
    onDrop(dropped);
    for (const row of dropped) bytes -= row.heldBytes;
    setHour(hour, rows.slice(count));
  }

  return {
    get size() {
      return size;
    },
    get bytes() {
      return bytes;
    },
    add(rows) {
      for (const [hour, added] of groupByHour(rows)) {
        const held = hours.get(hour) ?? [];
        const oldLength = held.length;
        const merged = mergeRows(held, added.sort(comparePositions), (row) => {
          bytes += row.heldBytes;
        });
        setHour(hour, merged, oldLength);
      }
    },
    *hoursBefore(before) {
      for (const hour of hoursDescending()) {
        if (before && hour * HOUR > before.written) continue;
        const rows = hours.get(hour) ?? [];
        yield { rows, count: before ? countBefore(rows, before) : rows.length };
      }
    },
    dropBefore(time) {
      for (const hour of hoursDescending().reverse()) {
        if (hour * HOUR >= time) break;
        dropFirst(hour, countBefore(hours.get(hour) ?? [], beforeInstant(time)));
      }
    },
    dropOver(maxBytes) {
      let complete: number | null = null;
      for (const hour of hoursDescending().reverse()) {
        const rows = hours.get(hour) ?? [];
        const excess = excessOf(rows, bytes - maxBytes);
        if (excess === 0) break;
        complete = (rows[excess - 1]?.written ?? 0) + 1;
        dropFirst(hour, countBefore(rows, beforeInstant(complete)));
      }
      return complete;
    },
  };
}

/** Rows per turn of the event loop: some 5 ms. */
const SLICE = 20_000;

/** All rows of a moment, by hour, newest hour first. */
export type RowSnapshot = readonly (readonly LedgerRow[])[];

/** Costs a pointer per row. */
export function snapshotOf(window: RowWindow): RowSnapshot {
  return [...window.hoursBefore()].map(({ rows }) => rows.slice());
}

/** Visits all rows, newest first, and lets callbacks through in between. */
export async function visitRows(hours: RowSnapshot, visit: (row: LedgerRow) => void): Promise<void> {
  let seen = 0;
  for (const rows of hours) {
    for (let index = rows.length - 1; index >= 0; index -= 1) {
      const row = rows[index];
      if (row) visit(row);
      seen += 1;
      if (seen % SLICE === 0) await immediate();
    }
  }
}

function groupByHour(rows: readonly LedgerRow[]): Map<number, LedgerRow[]> {
  const groups = new Map<number, LedgerRow[]>();
  for (const row of rows) {
    const hour = Math.floor(row.written / HOUR);
    const group = groups.get(hour);
    if (group) group.push(row);
    else groups.set(hour, [row]);
  }
  return groups;
}

/** How many of the first rows make up this number of bytes; at most all. */
function excessOf(rows: readonly LedgerRow[], bytes: number): number {
  let excess = 0;
  for (let freed = 0; excess < rows.length && freed < bytes; excess += 1)
    freed += rows[excess]?.heldBytes ?? 0;
  return excess;
}

/** Number of rows before a position, by bisection. */
function countBefore(rows: readonly LedgerRow[], position: LogPosition): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const row = rows[middle];
    if (row && comparePositions(row, position) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Merges a sorted list into another, without duplicates. Costs only the new rows when all of them are newer. */
function mergeRows(
  old: LedgerRow[],
  added: readonly LedgerRow[],
  onAdded: (row: LedgerRow) => void,
): LedgerRow[] {
  const first = added[0];
  if (!first) return old;
  const untouched = countBefore(old, first);
  const rest = old.splice(untouched);
  let index = 0;
  for (const row of added) {
    for (let next = rest[index]; next && comparePositions(next, row) < 0; next = rest[index]) {
      old.push(next);
      index += 1;
    }
    const last = old.at(-1);
    const isSame = (other?: LedgerRow) => other !== undefined && comparePositions(other, row) === 0;
    if (isSame(last) || isSame(rest[index])) continue;
    old.push(row);
    onAdded(row);
  }
  for (; index < rest.length; index += 1) {
    const row = rest[index];
    if (row) old.push(row);
  }
  return old;
}
