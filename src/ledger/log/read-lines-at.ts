import type { LedgerLine } from '../../domain/delivery.js';
import type { ObjectStore } from '../../store/object-store.js';
import { hourAt } from '../hours.js';
import { readAhead } from '../read-ahead.js';
import { readSegment } from '../read-segment.js';
import { segmentKey } from '../segment-key.js';
import type { LinePlace } from './line-place.js';

/** The place of a line, and when the hour of its segment began, in milliseconds since the epoch. */
export interface PlacedLine extends LinePlace {
  readonly hour: number;
}

/** Segments that are read at once: a store of objects takes some 30 ms for each. */
const AT_ONCE = 16;

/**
 * The lines at these places, in their order; null for one that is not there any more. Each segment is read once. Rejects with `StoreError`,
 * and with the reason of the signal.
 */
export async function readLinesAt(
  store: ObjectStore,
  places: readonly PlacedLine[],
  signal?: AbortSignal,
): Promise<(LedgerLine | null)[]> {
  const keys = places.map(({ hour, writer, number }) => segmentKey({ hour: hourAt(hour), writer, number }));
  const lines = new Map<string, Map<number, LedgerLine>>();
  const segments = readAhead(new Set(keys), AT_ONCE, async (key) => {
    signal?.throwIfAborted();
    return { key, entries: (await readSegment(store, key))?.entries ?? [] };
  });
  const wanted = new Set(places.map(({ line }, at) => `${keys[at]} ${line}`));
  for await (const { key, entries } of segments) {
    const found = entries.filter(({ index }) => wanted.has(`${key} ${index}`));
    lines.set(key, new Map(found.map(({ index, line }) => [index, line])));
  }
  return places.map(({ line }, at) => lines.get(keys[at] ?? '')?.get(line) ?? null);
}
