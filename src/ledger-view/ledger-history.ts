import { LEDGER_FOLDER, ledgerPartition } from '../archive/layout.js';
import { startOfPartition } from '../archive/ledger/ledger-reader.js';
import type { ObjectStore } from '../store/object-store.js';
import { createOpenHours } from './history/open-hours.js';
import type { HourPage, HourSearch } from './history/take-rows.js';
import type { LedgerRow } from './ledger-row.js';
import { beforeInstant, comparePositions } from './row-position.js';
import type { SegmentLoader } from './segment-loader.js';

/** Hours of the ledger before the window, read from the store on demand. */
export interface LedgerHistory {
  /**
   * Rows not before the search's `since`, newest first. Ends early, with a position to go on from, at the deadline. Throws
   * `StoreError`; what was read until then is kept for the next search.
   */
  search(search: HourSearch): Promise<HourPage>;
  /** Whether the ledger has a folder of an hour before an instant. */
  hasBefore(time: number): Promise<boolean>;
}

export interface LedgerHistoryOptions {
  readonly store: ObjectStore;
  readonly loader: SegmentLoader;
  readonly clock: () => number;
  /** Bytes of all indexes of old hours together. */
  readonly maxIndexBytes: number;
  /** Lines by which an index grows. */
  readonly indexChunk?: number | undefined;
}

const HOUR = 3_600_000;

export function createLedgerHistory(options: LedgerHistoryOptions): LedgerHistory {
  const { store, loader, clock, maxIndexBytes: maxBytes, indexChunk: chunk } = options;
  const openHours = createOpenHours({ store, loader, clock, maxBytes, chunk });

  return {
    async search({ search, from, wanted, deadline }) {
      const rows: LedgerRow[] = [];
      let isFirst = true;
      for await (const partition of partitionsDescending(store, from.time, search.since)) {
        const start = startOfPartition(partition);
        if (Number.isNaN(start) || comparePositions(from, beforeInstant(start)) <= 0) continue;
        const end = beforeInstant(start + HOUR);
        const upper = comparePositions(from, end) < 0 ? from : end;
        if (!isFirst && performance.now() >= deadline) return { rows, next: upper };
        const hour = { search, from: upper, wanted: wanted - rows.length, deadline };
        const page = await openHours.search({ start, partition }, hour);
        rows.push(...page.rows);
        if (page.next !== null || rows.length >= wanted) return { rows, next: page.next };
        isFirst = false;
      }
      return { rows, next: null };
    },
    async hasBefore(time) {
      for await (const _partition of partitionsDescending(store, time - 1, Number.NEGATIVE_INFINITY))
        return true;
      return false;
    },
  };
}

/** Folders of hours from that of `from` down to that of `since`; days are listed lazily. */
async function* partitionsDescending(
  store: ObjectStore,
  from: number,
  since: number,
): AsyncGenerator<string> {
  const newest = Number.isFinite(from) ? boundary(from) : '~';
  const oldest = Number.isFinite(since) ? boundary(since) : '';
  const dayOf = (partition: string) => partition.slice(0, partition.indexOf('/hour=') + 1);
  for (const day of await foldersDescending(store, LEDGER_FOLDER)) {
    if (day > newest || day < dayOf(oldest)) continue;
    for (const hour of await foldersDescending(store, day)) {
      if (hour <= newest && hour >= oldest) yield hour;
    }
  }
}

/** Partition of an instant. Instants without a four-digit year sort before or after every partition. */
function boundary(time: number): string {
  if (time < 0) return '';
  if (time >= Date.UTC(10_000, 0)) return '~';
  return ledgerPartition(new Date(time).toISOString());
}

async function foldersDescending(store: ObjectStore, prefix: string): Promise<string[]> {
  const folders: string[] = [];
  for await (const folder of store.folders(prefix)) folders.push(folder);
  return folders.reverse();
}
