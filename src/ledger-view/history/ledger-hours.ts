import {
  LEDGER_FOLDER,
  LEDGER_PARQUET_FOLDER,
  ledgerPartition,
  ROLLUPS_FOLDER,
} from '../../ledger/ledger-keys.js';
import { startOfPartition } from '../../ledger/ledger-reader.js';
import type { ObjectStore } from '../../store/object-store.js';

/** An hour of the ledger. */
export interface LedgerHour {
  /** Milliseconds since the epoch. */
  readonly start: number;
  /** Folder of its segments. */
  readonly partition: string;
}

/** Hours with segments or compacted files, from that of `from` down to that of `since`; days are listed lazily. */
export async function* hoursDescending(
  store: ObjectStore,
  from: number,
  since: number,
): AsyncGenerator<LedgerHour> {
  const newest = Number.isFinite(from) ? boundary(from) : '~';
  const oldest = Number.isFinite(since) ? boundary(since) : '';
  const oldestDay = oldest.slice(0, oldest.indexOf('/') + 1);
  for (const day of await foldersDescending(store, '')) {
    if (day > newest || day < oldestDay) continue;
    for (const hour of await foldersDescending(store, day)) {
      const partition = LEDGER_FOLDER + hour;
      const start = startOfPartition(partition);
      if (hour <= newest && hour >= oldest && !Number.isNaN(start)) yield { start, partition };
    }
  }
}

/** Folder of an instant's hour. Instants without a four-digit year sort before or after every folder. */
function boundary(time: number): string {
  if (time < 0) return '';
  if (time >= Date.UTC(10_000, 0)) return '~';
  return ledgerPartition(new Date(time).toISOString()).slice(LEDGER_FOLDER.length);
}

async function foldersDescending(store: ObjectStore, path: string): Promise<string[]> {
  const names = new Set<string>();
  await Promise.all(
    [LEDGER_FOLDER, LEDGER_PARQUET_FOLDER, ROLLUPS_FOLDER].map(async (root) => {
      for await (const folder of store.folders(root + path)) names.add(folder.slice(root.length));
    }),
  );
  return [...names].sort().reverse();
}
