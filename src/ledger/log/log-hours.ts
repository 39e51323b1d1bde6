import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { hourAt, startOfHour } from '../hours.js';
import { LEDGER_FOLDER, MERGED_FOLDER, OUTBOX_FOLDER, sentFolder } from '../ledger-keys.js';

/** The folders of the ledger's hours. */
const ROOTS = [LEDGER_FOLDER, MERGED_FOLDER];

/**
 * Folders of the hours that have segments or merged hours, `dt=…/hour=HH/`; days are listed lazily.
 *
 * @param onUnlisted called with a day whose hours cannot be listed, which is left out; default: throws
 */
export async function* hoursInOrder(
  store: ObjectStore,
  order: 'newest' | 'oldest',
  since: number,
  until: number,
  roots: readonly string[] = ROOTS,
  onUnlisted: (day: string, error: StoreError) => Promise<void> = (_day, error) => Promise.reject(error),
): AsyncGenerator<string> {
  const oldest = folderAt(since);
  const newest = folderAt(until);
  const inOrder = (folders: string[]) => (order === 'oldest' ? folders : folders.reverse());
  for (const day of inOrder(await ledgerFolders(store, '', roots))) {
    if (day > newest || day < oldest.slice(0, day.length)) continue;
    const hours = await ledgerFolders(store, day, roots).catch(async (error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
      await onUnlisted(day, error);
      return [];
    });
    for (const hour of inOrder(hours)) {
      if (hour <= newest && hour >= oldest && !Number.isNaN(startOfHour(hour))) yield hour;
    }
  }
}

/** Instants without a four-digit year sort before or after every folder. */
function folderAt(time: number): string {
  if (!(time >= 0)) return '';
  if (time >= Date.UTC(10_000, 0)) return '~';
  return hourAt(time);
}

/** The folders directly below a path of the ledger's roots (segments, merged hours), each once, sorted. */
export async function ledgerFolders(
  store: Pick<ObjectStore, 'folders'>,
  path: string,
  roots: readonly string[] = ROOTS,
): Promise<string[]> {
  const names = new Set<string>();
  await Promise.all(
    roots.map(async (root) => {
      for await (const folder of store.folders(root + path)) names.add(folder.slice(root.length));
    }),
  );
  return [...names].sort();
}

/** Folders of the segments of what was sent, of all subscribers that the store has anything of. */
export async function* sentFolders(store: Pick<ObjectStore, 'folders'>): AsyncGenerator<string> {
  for await (const folder of store.folders(OUTBOX_FOLDER))
    yield sentFolder(folder.slice(OUTBOX_FOLDER.length, -1));
}
