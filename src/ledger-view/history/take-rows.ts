import { cooperativeYield } from '../../time/cooperative-yield.js';
import type { RowSearch } from '../delivery-query.js';
import { createRowPacker, type LedgerRow } from '../ledger-row.js';
import { beforeInstant, comparePositions, type RowPosition } from '../row-position.js';
import type { SegmentLoader } from '../segment-loader.js';
import type { LineIndex, LinePlace } from './line-index.js';

/** A search of one hour. */
export interface HourSearch {
  readonly search: RowSearch;
  /** Only rows before this position. */
  readonly from: RowPosition;
  readonly wanted: number;
  /** The search ends early at this time, by `performance.now()`. */
  readonly deadline: number;
}

/** Rows that a search of an hour found. */
export interface HourPage {
  /** Newest first; at most as many as wanted. */
  readonly rows: readonly LedgerRow[];
  /** Where the search goes on when it ended before the hour did and before all wanted rows were found; else null. */
  readonly next: RowPosition | null;
}

export interface TakenRows {
  /** Newest first; at most as many as wanted. */
  readonly rows: LedgerRow[];
  /** The search looked at everything from its begin down to this position. */
  readonly at: RowPosition;
}

export interface IndexedHour {
  /** Begin of the hour in milliseconds since the epoch. */
  readonly start: number;
  /** Folder of the hour. */
  readonly partition: string;
  readonly index: LineIndex;
  readonly loader: SegmentLoader;
  readonly matches: (code: number, job: number) => boolean;
  /** Down to which time after `start` the index holds all lines now. */
  floor(): number;
}

/** Searches the part of an hour that its index holds, and reads the lines that it finds. */
export async function takeRows(hour: IndexedHour, options: HourSearch): Promise<TakenRows> {
  const { start, index } = hour;
  const { from, wanted, deadline } = options;
  const pause = cooperativeYield();
  const isInstant = from.id === '' && from.outcome === '';
  const latest = from.time - start - (isInstant ? 1 : 0);
  const rows: LedgerRow[] = [];
  let places: LinePlace[] = [];
  let at = from;

  async function read(count: number): Promise<void> {
    const end = endOfInstant(places, count);
    const last = places[end - 1];
    rows.push(...(await readRows(hour, options, places.slice(0, end))));
    places = places.slice(end);
    if (last !== undefined) at = beforeInstant(start + last.time);
  }

  let reached: number | null = null;
  for (let second = Math.min(3599, Math.floor(latest / 1000)); second >= 0; second -= 1) {
    await pause();
    const lowest = Math.max(hour.floor(), options.search.since - start);
    if (second * 1000 + 999 < lowest || latest < lowest) break;
    const found = index.second(second, hour.matches);
    places = places.concat(found.filter(({ time }) => time <= latest && time >= lowest));
    while (places.length > 0 && places.length >= wanted - rows.length) {
      await read(wanted - rows.length);
      if (rows.length >= wanted) return { rows: rows.slice(0, wanted), at };
      if (performance.now() >= deadline) return { rows, at };
    }
    reached = Math.max(second * 1000, lowest);
    if (lowest > second * 1000) break;
  }
  if (places.length > 0) await read(places.length);
  return { rows, at: reached === null ? at : beforeInstant(start + reached) };
}

/** Lines of one instant stay together: their order shows only once they are read. */
function endOfInstant(places: readonly LinePlace[], count: number): number {
  let end = Math.min(Math.max(1, count), places.length);
  while (end < places.length && places[end]?.time === places[end - 1]?.time) end += 1;
  return end;
}

/** The matching rows among some places, newest first, without duplicates. */
async function readRows(
  { partition, loader }: IndexedHour,
  { search, from, wanted }: HourSearch,
  places: readonly LinePlace[],
): Promise<LedgerRow[]> {
  const packRows = createRowPacker();
  const numbers = new Map<string, number[]>();
  for (const { segment, number } of places) {
    const key = `${partition}${segment}.ndjson`;
    const known = numbers.get(key);
    if (known) known.push(number);
    else numbers.set(key, [number]);
  }
  let rows: LedgerRow[] = [];
  for await (const { key, entries } of loader.readLines(numbers.keys())) {
    const wantedLines = (numbers.get(key) ?? []).flatMap((number) => entries[number] ?? []);
    const found = packRows(wantedLines);
    rows.push(...found.filter((row) => search.matches(row) && comparePositions(row, from) < 0));
    if (rows.length > 4 * wanted) rows = newest(rows, wanted);
  }
  return newest(rows, wanted);
}

function newest(rows: LedgerRow[], count: number): LedgerRow[] {
  rows.sort((a, b) => comparePositions(b, a));
  return rows
    .filter((row, index) => index === 0 || comparePositions(row, rows[index - 1] as LedgerRow) !== 0)
    .slice(0, count);
}
