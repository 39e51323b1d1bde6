import type { ObjectStore } from '../../store/object-store.js';
import { fetchSegment, type UnparsedSegment, unparsedSegment } from '../read-segment.js';
import { type SegmentPlace, segmentKey } from '../segment-key.js';
import { MergedHourError } from './merged-hour-error.js';
import { readMergedSegments } from './merged-segments.js';
import { type MergedHour, readMergedHour } from './read-merged-hour.js';

/**
 * Reads a segment of the log: its object, or else its part of a merged hour; null when it is in neither. Rejects with `StoreError`, and with
 * `MergedHourError` when something is damaged or missing that may have it.
 */
export type FetchFromLog = (segment: SegmentPlace) => Promise<UnparsedSegment | null>;

/** Records of a busy hour take some megabytes. */
const KEPT_HOURS = 4;

/** Reads segments of the log one at a time. The records of the hours that it came to last are kept, for further ones. */
export function createLogFetcher(store: ObjectStore): FetchFromLog {
  const hours = new Map<string, Promise<MergedHour>>();

  function readHour(hour: string): Promise<MergedHour> {
    const merged = readMergedHour(store, hour);
    hours.delete(hour);
    hours.set(hour, merged);
    for (const oldest of hours.keys()) if (hours.size > KEPT_HOURS) hours.delete(oldest);
    merged.catch(() => hours.delete(hour));
    return merged;
  }

  return async (place) => {
    const own = await fetchSegment(store, segmentKey(place));
    if (own !== null) return own;
    const known = await (hours.get(place.hour) ?? readHour(place.hour));
    const isKnown = known.records.some((record) => indexIn(record, place) >= 0);
    return fetchMerged(store, isKnown ? known : await readHour(place.hour), place);
  };
}

/** The same, once. */
export function fetchFromLog(store: ObjectStore, segment: SegmentPlace): Promise<UnparsedSegment | null> {
  return createLogFetcher(store)(segment);
}

/** A segment of a merged hour; null when no record has it. Rejects as `FetchFromLog` does. */
export async function fetchMerged(
  store: ObjectStore,
  { records, faults }: MergedHour,
  place: SegmentPlace,
): Promise<UnparsedSegment | null> {
  let damage = faults[0] ?? null;
  for (const record of records) {
    const index = indexIn(record, place);
    if (index < 0) continue;
    try {
      for await (const { segment, content } of readMergedSegments(store, record, index, index + 1))
        return unparsedSegment(content, segment.writtenAt);
    } catch (error) {
      if (!(error instanceof MergedHourError)) throw error;
      damage = error;
    }
  }
  if (damage !== null) throw damage;
  return null;
}

function indexIn({ segments }: MergedHour['records'][number], { writer, number }: SegmentPlace): number {
  return segments.findIndex((each) => each.number === number && each.writer === writer);
}
