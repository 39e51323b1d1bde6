import type { ObjectStore } from '../../store/object-store.js';
import { startOfHour } from '../hours.js';
import { ledgerFolders } from '../ledger-folders.js';
import { hourFolder } from '../ledger-keys.js';

/** Folders of the hours that have segments or merged hours, `dt=…/hour=HH/`; days are listed lazily. */
export async function* hoursInOrder(
  store: ObjectStore,
  order: 'newest' | 'oldest',
  since: number,
  until: number,
): AsyncGenerator<string> {
  const oldest = folderAt(since);
  const newest = folderAt(until);
  const inOrder = (folders: string[]) => (order === 'oldest' ? folders : folders.reverse());
  for (const day of inOrder(await ledgerFolders(store, ''))) {
    if (day > newest || day < oldest.slice(0, day.length)) continue;
    for (const hour of inOrder(await ledgerFolders(store, day))) {
      if (hour <= newest && hour >= oldest && !Number.isNaN(startOfHour(hour))) yield hour;
    }
  }
}

/** Instants without a four-digit year sort before or after every folder. */
function folderAt(time: number): string {
  if (!(time >= 0)) return '';
  if (time >= Date.UTC(10_000, 0)) return '~';
  return hourFolder(new Date(time).toISOString());
}
