import type { LedgerLine } from '../../domain/delivery.js';
import type { ObjectStore } from '../../store/object-store.js';
import { hourAt } from '../hours.js';
import { readAhead } from '../read-ahead.js';
import { segmentKey } from '../segment-key.js';
import type { LinePlace } from './line-place.js';
import { nullIfDamaged } from './merge-record.js';
import { createLogFetcher } from './merged-segments.js';

/** The place of a line, and when the hour of its segment began, in milliseconds since the epoch. */
export interface PlacedLine extends LinePlace {
  readonly hour: number;
}

/** Segments that are read at once: a store of objects takes some 30 ms for each. */
const AT_ONCE = 16;

/**
 * The lines at these places, in their order; null for one that is not there any more, or cannot be read. Each segment is read once. Rejects with `StoreError`,
 * and with the reason of the signal.
 */
export async function readLinesAt(
  store: ObjectStore,
  places: readonly PlacedLine[],
  signal?: AbortSignal,
): Promise<(LedgerLine | null)[]> {
  const segments = places.map(({ hour, writer, number }) => ({ hour: hourAt(hour), writer, number }));
  const keys = segments.map(segmentKey);
  const distinct = new Map(segments.map((segment, at) => [keys[at] ?? '', segment]));
  const lines = new Map<string, Map<number, LedgerLine>>();
  const fetch = createLogFetcher(store);
  const reads = readAhead(distinct, AT_ONCE, async ([key, segment]) => {
    signal?.throwIfAborted();
    return { key, entries: (await fetch(segment).catch(nullIfDamaged))?.parse().entries ?? [] };
  });
  const wanted = new Set(places.map(({ line }, at) => `${keys[at]} ${line}`));
  for await (const { key, entries } of reads) {
    const found = entries.filter(({ index }) => wanted.has(`${key} ${index}`));
    lines.set(key, new Map(found.map(({ index, line }) => [index, line])));
  }
  return places.map(({ line }, at) => lines.get(keys[at] ?? '')?.get(line) ?? null);
}
