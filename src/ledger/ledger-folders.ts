import type { ObjectStore } from '../store/object-store.js';
import { LEDGER_FOLDER, MERGED_FOLDER } from './ledger-keys.js';

const ROOTS = [LEDGER_FOLDER, MERGED_FOLDER];

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
