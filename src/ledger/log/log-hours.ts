import type { ObjectStore } from '../../store/object-store.js';
import { hourAt, startOfHour } from '../hours.js';
import { LEDGER_FOLDER, MERGED_FOLDER, OUTBOX_FOLDER, sentFolder } from '../ledger-keys.js';
import { UnreadableError } from '../retrying-reads.js';

/** The folders of the ledger's hours. */
const ROOTS = [LEDGER_FOLDER, MERGED_FOLDER];

/**
 * Folders of the hours that have segments or merged objects, `dt=…/hour=HH/`; days are listed lazily.
 *
 * @param hoursOfUnlisted hours assumed for a day that cannot be listed although others can; default: all, so that reading one reports why
 */
export async function* hoursInOrder(
  store: ObjectStore,
  order: 'newest' | 'oldest',
  since: number,
  until: number,
  roots: readonly string[] = ROOTS,
  hoursOfUnlisted: (day: string) => readonly string[] = eachHour,
): AsyncGenerator<string> {
  const oldest = folderAt(since);
  const newest = folderAt(until);
  const inOrder = (folders: string[]) => (order === 'oldest' ? folders : folders.reverse());
  for (const day of inOrder(await foldersBelow(store, '', roots, []))) {
    if (day > newest || day < oldest.slice(0, day.length)) continue;
    for (const hour of inOrder(await foldersBelow(store, day, roots, hoursOfUnlisted(day)))) {
      if (hour <= newest && hour >= oldest && !Number.isNaN(startOfHour(hour))) yield hour;
    }
  }
}

/** Like `ledgerFolders`, but with `fallback` for a root that cannot be listed there. */
async function foldersBelow(
  store: Pick<ObjectStore, 'folders'>,
  path: string,
  roots: readonly string[],
  fallback: readonly string[],
): Promise<string[]> {
  const found = roots.map((root) =>
    ledgerFolders(store, path, [root]).catch((error: unknown) => {
      if (!(error instanceof UnreadableError) || ROOTS.includes(error.key)) throw error;
      return fallback;
    }),
  );
  return [...new Set((await Promise.all(found)).flat())].sort();
}

/** @param day `dt=…/` */
export function eachHour(day: string): string[] {
  return Array.from({ length: 24 }, (_, hour) => `${day}hour=${String(hour).padStart(2, '0')}/`);
}

/** Instants without a four-digit year sort before or after every folder. */
function folderAt(time: number): string {
  if (!(time >= 0)) return '';
  if (time >= Date.UTC(10_000, 0)) return '~';
  return hourAt(time);
}

/** The folders directly below `path` in any of the roots (segments, merged hours), each once, sorted. */
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

/** Folders of sent records, one for each subscriber that the store has a folder of. */
export async function* sentFolders(store: Pick<ObjectStore, 'folders'>): AsyncGenerator<string> {
  for await (const folder of store.folders(OUTBOX_FOLDER))
    yield sentFolder(folder.slice(OUTBOX_FOLDER.length, -1));
}
