import type { ObjectStore } from '../../store/object-store.js';
import { startOfHour } from '../hours.js';
import { ledgerFolders } from '../ledger-folders.js';

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
  roots?: readonly string[],
): AsyncGenerator<LedgerDay> {
  const firstDay = from.slice(0, from.indexOf('/') + 1);
  for (const day of await ledgerFolders(store, '', roots)) {
    const name = DAY_FOLDER.exec(day)?.[1];
    if (name === undefined || Number.isNaN(Date.parse(name)) || day < firstDay) continue;
    const hours = await ledgerFolders(store, day, roots);
    yield { name, hours: hours.filter((hour) => !Number.isNaN(startOfHour(hour))) };
  }
}
