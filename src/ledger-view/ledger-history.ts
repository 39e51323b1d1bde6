import { LEDGER_FOLDER, ledgerPartition } from '../archive/layout.js';
import { listPartition, startOfPartition } from '../archive/ledger/ledger-reader.js';
import type { ObjectStore } from '../store/object-store.js';
import type { LedgerRow } from './ledger-row.js';
import { comparePositions, type RowPosition } from './row-position.js';
import { mergeRows } from './row-window.js';
import type { SegmentLoader } from './segment-loader.js';

/** Hours of the ledger before the window, read from the store on demand. */
export interface LedgerHistory {
  /**
   * Hours before a position and not before `since`, newest first, each with its rows in order. `read` counts the segments
   * that were read from the store for the hour.
   */
  hoursBefore(position: RowPosition, since: number): AsyncGenerator<HistoryHour>;
  /** Whether the ledger has a folder of an hour before an instant. */
  hasBefore(time: number): Promise<boolean>;
}

export interface HistoryHour {
  /** Milliseconds since the epoch of the hour's beginning. */
  readonly start: number;
  readonly rows: readonly LedgerRow[];
  readonly read: number;
}

export interface LedgerHistoryOptions {
  readonly store: ObjectStore;
  readonly loader: SegmentLoader;
  /** Rows of old hours that are cached for the next page. */
  readonly maxCachedRows: number;
}

export function createLedgerHistory(options: LedgerHistoryOptions): LedgerHistory {
  const { store, loader, maxCachedRows } = options;
  const cache = new Map<string, LedgerRow[]>();

  function remember(partition: string, rows: LedgerRow[]): void {
    cache.delete(partition);
    cache.set(partition, rows);
    let total = [...cache.values()].reduce((sum, cached) => sum + cached.length, 0);
    for (const [oldest, cached] of cache) {
      if (total <= maxCachedRows) break;
      cache.delete(oldest);
      total -= cached.length;
    }
  }

  async function readHour(partition: string): Promise<{ rows: LedgerRow[]; read: number }> {
    const cached = cache.get(partition);
    if (cached) {
      remember(partition, cached);
      return { rows: cached, read: 0 };
    }
    const keys: string[] = [];
    for await (const key of listPartition(store, partition)) keys.push(key);
    let rows: LedgerRow[] = [];
    for await (const segment of loader.read(keys)) {
      rows = mergeRows(rows, segment.rows.sort(comparePositions));
    }
    remember(partition, rows);
    return { rows, read: keys.length };
  }

  return {
    async *hoursBefore(position, since) {
      for await (const partition of partitionsDescending(store, position.time, since)) {
        const start = startOfPartition(partition);
        if (!Number.isNaN(start)) yield { start, ...(await readHour(partition)) };
      }
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
