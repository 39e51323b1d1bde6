import { readLinesAt } from '../../ledger/log/read-lines-at.js';
import type { ObjectStore } from '../../store/object-store.js';
import { contextHash } from '../context-keys.js';
import type { IndexCalls } from '../index-calls.js';

/** What a value of the context is, by the hash that the index has of it. */
export type ContextTexts = (
  name: string,
  samples: ReadonlyMap<string, number>,
  signal?: AbortSignal,
) => Promise<ReadonlyMap<string, string>>;

/** Upper bound of cached texts. A hash always means the same value, so entries never become stale. */
const MOST_KEPT = 20_000;

/** Reads values of the context from the log: a line of each that is not known yet. One whose line cannot be read any more is left out. */
export function createContextTexts(store: ObjectStore, index: IndexCalls): ContextTexts {
  const kept = new Map<string, string>();

  return async (name, samples, signal) => {
    const wanted = [...samples].filter(([hash]) => !kept.has(`${name} ${hash}`));
    const places = await index.call(
      'placesOf',
      wanted.map(([, line]) => line),
    );
    const { lines } = await readLinesAt(
      store,
      places.flatMap((place) => (place === null ? [] : [place])),
      signal,
    );
    if (kept.size + lines.length > MOST_KEPT) kept.clear();
    const found = new Map<string, string>();
    for (const line of lines) {
      const value: unknown = line?.context?.[name];
      if (typeof value !== 'string') continue;
      const hash = contextHash(name, value).toString();
      kept.set(`${name} ${hash}`, value);
      found.set(hash, value);
    }
    for (const hash of samples.keys()) {
      const text = kept.get(`${name} ${hash}`);
      if (text !== undefined) found.set(hash, text);
    }
    return found;
  };
}
