import { isAbsolute, relative, resolve, sep } from 'node:path';
import { readStoreLocation } from '../../text/store-location.js';
import type { Settings } from '../schema.js';
import type { BrokenRule } from './broken-rule.js';

/** What the store's folder holds is copied, verified and read by others; the index may be deleted at any time. */
export function* indexRules({ store, ledger }: Settings): Generator<BrokenRule> {
  const { path } = ledger.index;
  const location = readStoreLocation(store.url);
  if (path === null || !('directory' in location) || !isWithin(location.directory, path)) return;
  yield {
    path: ['ledger', 'index', 'path'],
    expected: "a path outside of the store's folder",
    also: [['store', 'url']],
  };
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(resolve(folder), resolve(path));
  return way === '' || !(isAbsolute(way) || way === '..' || way.startsWith(`..${sep}`));
}
