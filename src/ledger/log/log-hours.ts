import type { ObjectStore } from '../../store/object-store.js';
import { hourAt, startOfHour } from '../hours.js';
import { LEDGER_FOLDER, MERGED_FOLDER, OUTBOX_FOLDER, sentFolder } from '../ledger-keys.js';
import { UnreadableError } from '../retrying-reads.js';

/** The folders of the ledger's hours. */
const ROOTS = [LEDGER_FOLDER, MERGED_FOLDER];

/**
 * Folders of the hours that have segments or merged hours, `dt=…/hour=HH/`; days are listed lazily.
 *
 * @param hoursOf what a day has that cannot be listed although others can; default: each hour, so that whoever reads it sees why
 */
export async function* hoursInOrder(
  store: ObjectStore,
  order: 'newest' | 'oldest',
  since: number,
  until: number,
  roots: readonly string[] = ROOTS,
  hoursOf: (day: string) => readonly string[] = eachHour,
): AsyncGenerator<string> {
  const oldest = folderAt(since);
  const newest = folderAt(until);
  const inOrder = (folders: string[]) => (order === 'oldest' ? folders : folders.reverse());
  for (const day of inOrder(await foldersBelow(store, '', roots, []))) {
    if (day > newest || day < oldest.slice(0, day.length)) continue;
    for (const hour of inOrder(await foldersBelow(store, day, roots, hoursOf(day)))) {
      if (hour <= newest && hour >= oldest && !Number.isNaN(startOfHour(hour))) yield hour;
    }
  }
}

/** As `ledgerFolders`; a root that cannot be listed there has the folders that are named instead. */
async function foldersBelow(
  store: Pick<ObjectStore, 'folders'>,
  path: string,
  roots: readonly string[],
  instead: readonly string[],
): Promise<string[]> {
  const found = roots.map((root) =>
    ledgerFolders(store, path, [root]).catch((error: unknown) => {
      if (!(error instanceof UnreadableError) || ROOTS.includes(error.key)) throw error;
      return instead;
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
