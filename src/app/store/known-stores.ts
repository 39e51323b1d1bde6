import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCacheFolder } from '../../index/shared/make-cache-folder.js';
import { isJsonObject, parseJson } from '../../lib/text/parse-json.js';

/** The store that this machine last saw at an address. */
interface KnownStore {
  readonly id: string;
  /** ISO 8601. */
  readonly seenAt: string;
}

const FILE = 'stores.json';

/** Addresses that are remembered. */
const MAX_STORES = 20;

/**
 * Records which store is at an address in the cache directory, so that a store that was emptied does not look like a new one.
 *
 * @param folder null: nothing is recorded
 * @param pinned the configuration names this id, so that it is the right one
 * @returns the different store that was at the address before, whose record stays; null if it is the same or none is known
 */
export function rememberStore(
  folder: string | null,
  { location, id, pinned }: { readonly location: string; readonly id: string; readonly pinned: boolean },
): KnownStore | null {
  if (folder === null) return null;
  const file = join(folder, FILE);
  const known = readKnown(file);
  const before = known.get(location);
  if (before !== undefined && before.id !== id && !pinned) return before;
  known.delete(location);
  known.set(location, { id, seenAt: new Date().toISOString() });
  try {
    makeCacheFolder(folder);
    const temporary = `${file}.${process.pid}`;
    writeFileSync(temporary, JSON.stringify(Object.fromEntries([...known].slice(-MAX_STORES))), {
      mode: 0o600,
    });
    renameSync(temporary, file);
  } catch {
    // Best effort: a container may have no writable cache directory.
  }
  return null;
}

/** The store that this machine last saw at an address; null without a record. */
export function knownStore(folder: string | null, location: string): KnownStore | null {
  return folder === null ? null : (readKnown(join(folder, FILE)).get(location) ?? null);
}

function readKnown(file: string): Map<string, KnownStore> {
  try {
    const document = parseJson(readFileSync(file, 'utf8'));
    return new Map(isJsonObject(document) ? Object.entries(document).filter(isKnown) : []);
  } catch {
    return new Map();
  }
}

function isKnown(entry: [string, unknown]): entry is [string, KnownStore] {
  const [, value] = entry;
  return isJsonObject(value) && typeof value.id === 'string' && typeof value.seenAt === 'string';
}
