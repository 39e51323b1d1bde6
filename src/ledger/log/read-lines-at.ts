import pLimit from 'p-limit';
import type { LedgerLine } from '../../domain/delivery.js';
import type { ObjectStore } from '../../store/object-store.js';
import { hourAt } from '../hours.js';
import { readAhead } from '../read-ahead.js';
import { type SegmentPlace, segmentKey } from '../segment-key.js';
import type { LinePlace } from './line-place.js';
import { nullIfDamaged } from './merge-record.js';
import { createLogFetcher } from './merged-segments.js';

/** The place of a line, and when the hour of its segment began, in milliseconds since the epoch. */
export interface PlacedLine extends LinePlace {
  readonly hour: number;
}

/**
 * Segments that the process reads at once for all who ask: each takes the event loop and Node's four threads for files, which callbacks need
 * as well. A store of objects takes some 30 ms for each.
 */
const AT_ONCE = 4;
const limit = pLimit(AT_ONCE);

/** Lines of a segment that cannot be read although they were once. */
export interface UnreadLines {
  readonly key: string;
  /** How many of the wanted lines; null where the segment is missing. */
  readonly lines: number | null;
}

export interface LinesAt {
  /** Lines in the order of the places; null for one that no longer exists or cannot be read. */
  readonly lines: readonly (LedgerLine | null)[];
  /** The segments of those. */
  readonly unread: readonly UnreadLines[];
}

/** The lines at these places. Each segment is read once. Rejects with `StoreError`, and with the reason of the signal. */
export async function readLinesAt(
  store: ObjectStore,
  places: readonly PlacedLine[],
  signal?: AbortSignal,
): Promise<LinesAt> {
  const wanted = new Map<string, { readonly segment: SegmentPlace; readonly indices: Set<number> }>();
  const keys = places.map(({ hour, writer, number, line }) => {
    const segment = { hour: hourAt(hour), writer, number };
    const key = segmentKey(segment);
    const known = wanted.get(key) ?? { segment, indices: new Set() };
    known.indices.add(line);
    wanted.set(key, known);
    return key;
  });
  const fetch = createLogFetcher(store);
  const reads = readAhead(wanted, AT_ONCE, async ([key, { segment, indices }]) => {
    const found = await limit(async () => {
      signal?.throwIfAborted();
      return (await fetch(segment).catch(nullIfDamaged))?.linesAt(indices) ?? null;
    });
    return { key, indices, found };
  });
  const lines = new Map<string, ReadonlyMap<number, LedgerLine>>();
  const unread: UnreadLines[] = [];
  for await (const { key, indices, found } of reads) {
    if (found !== null) lines.set(key, found);
    if (found === null) unread.push({ key, lines: null });
    else if (found.size < indices.size) unread.push({ key, lines: indices.size - found.size });
  }
  return { lines: places.map(({ line }, at) => lines.get(keys[at] ?? '')?.get(line) ?? null), unread };
}
