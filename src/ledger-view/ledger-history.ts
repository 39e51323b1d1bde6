import { LEDGER_FOLDER, ledgerPartition } from '../archive/layout.js';
import { listPartition } from '../archive/ledger/ledger-reader.js';
import type { ObjectStore } from '../store/object-store.js';
import type { LedgerRow } from './ledger-row.js';
import { comparePositions, type RowPosition } from './row-position.js';
import { mergeRows } from './row-window.js';
import type { SegmentIntake } from './segment-intake.js';

/** Hours of the ledger that are older than the window, read when somebody asks for them. */
export interface LedgerHistory {
  /**
   * Hours before a place and not before `since`, newest first, each with its rows in order. `read` counts the
   * segments that had to be read for the hour.
   */
  hoursBefore(place: RowPosition, since: number): AsyncGenerator<HistoryHour>;
  /** Whether anything was received before an instant, as far as the folders tell. */
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
  readonly intake: SegmentIntake;
  /** Rows of old hours that are kept for the next page. */
  readonly maxCachedRows: number;
}

export function createLedgerHistory(options: LedgerHistoryOptions): LedgerHistory {
  const { store, intake, maxCachedRows } = options;
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
    for await (const segment of intake.read(keys)) {
      rows = mergeRows(rows, segment.rows.sort(comparePositions));
    }
    remember(partition, rows);
    return { rows, read: keys.length };
  }

  return {
    async *hoursBefore(place, since) {
      for await (const partition of partitionsDescending(store, place.time, since)) {
        const start = startOf(partition);
        if (start !== null) yield { start, ...(await readHour(partition)) };
      }
    },
    async hasBefore(time) {
      for await (const _partition of partitionsDescending(store, time - 1, Number.NEGATIVE_INFINITY))
        return true;
      return false;
    },
  };
}

/** Folders of hours from the one that holds `from` down to the one that holds `since`; days are listed lazily. */
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

/** Partition of an instant; instants that have no four-digit year lie beyond every partition. */
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

function startOf(partition: string): number | null {
  const [, day, hour] = /dt=(\d{4}-\d\d-\d\d)\/hour=(\d\d)\/$/.exec(partition) ?? [];
  const time = Date.parse(`${day}T${hour}:00:00.000Z`);
  return Number.isNaN(time) ? null : time;
}
