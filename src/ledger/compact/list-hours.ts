import type { ObjectStore } from '../../store/object-store.js';
import { startOfHour } from '../hours.js';
import { LEDGER_FOLDER, LEDGER_PARQUET_FOLDER, ROLLUPS_FOLDER } from '../ledger-keys.js';

const ROOTS = [LEDGER_FOLDER, ROLLUPS_FOLDER, LEDGER_PARQUET_FOLDER];

/** The hours of a day that have segments or compacted files. */
export interface LedgerDay {
  /** `YYYY-MM-DD` */
  readonly name: string;
  /** Folders of its hours, oldest first. */
  readonly hours: readonly string[];
}

const DAY_FOLDER = /^dt=(\d{4}-\d\d-\d\d)\/$/;

/** The days with hours from a folder on, oldest first. Takes a call for each root, and one for each root of a day. */
export async function* listDays(
  store: ObjectStore,
  from: string,
  roots: readonly string[] = ROOTS,
): AsyncGenerator<LedgerDay> {
  const firstDay = from.slice(0, from.indexOf('/') + 1);
  for (const day of await listFolders(store, roots, '')) {
    const name = DAY_FOLDER.exec(day)?.[1];
    if (name === undefined || Number.isNaN(Date.parse(name)) || day < firstDay) continue;
    const hours = await listFolders(store, roots, day);
    yield { name, hours: hours.filter((hour) => !Number.isNaN(startOfHour(hour))) };
  }
}

async function listFolders(store: ObjectStore, roots: readonly string[], path: string): Promise<string[]> {
  const names = new Set<string>();
  await Promise.all(
    roots.map(async (root) => {
      for await (const folder of store.folders(root + path)) names.add(folder.slice(root.length));
    }),
  );
  return [...names].sort();
}
