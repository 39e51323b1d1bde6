import { hourAt, startOfHour } from '../../ledger/hours.js';
import { segmentsFolderOf } from '../../ledger/ledger-keys.js';
import {
  MergedHourError,
  type MergeRecord,
  nullIfDamaged,
  readMergedHour,
} from '../../ledger/log/merge-record.js';
import { createLogFetcher, readMergedSegments } from '../../ledger/log/merged-segments.js';
import type { UnparsedSegment } from '../../ledger/read-segment.js';
import { parseSegmentKey, type SegmentPlace } from '../../ledger/segment-key.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { IndexCalls } from '../index-calls.js';
import type { IndexState } from '../index-state.js';
import { contentOf } from './segment-taker.js';

/** Numbers in a row that are asked for although the one before is still missing. */
const MISSED_IN_A_ROW = 10;

/** A segment that was missing. */
interface Found {
  readonly place: SegmentPlace;
  readonly segment: UnparsedSegment;
}

/** Segments that were missing and are there, and the hours of segments that were damaged and are not any more. Throws `StoreError`. */
export async function* repairedIn(
  store: ObjectStore,
  index: IndexCalls,
  missing: IndexState['missing'],
): AsyncGenerator<Found | string> {
  const fetchOne = createLogFetcher(store);
  const fetch = (place: SegmentPlace) => fetchOne(place).catch(nullIfDamaged);
  for (const { key, segments, unreadable } of missing) {
    const place = parseSegmentKey(key);
    if (place === null) continue;
    if (unreadable === null) {
      yield* foundFrom(fetch, place, segments);
      continue;
    }
    const segment = await fetch(place);
    if (segment === null) continue;
    const lines = await index.call('countUnreadable', contentOf(place, segment));
    if (lines !== unreadable) yield place.hour;
  }
}

async function* foundFrom(
  fetch: (place: SegmentPlace) => Promise<UnparsedSegment | null>,
  first: SegmentPlace,
  count: number,
): AsyncGenerator<Found> {
  let missed = 0;
  for (let number = first.number; number < first.number + count; number += 1) {
    const place = { ...first, number };
    const segment = await fetch(place);
    missed = segment === null ? missed + 1 : 0;
    if (segment !== null) yield { place, segment };
    else if (missed === MISSED_IN_A_ROW) return;
  }
}

/** Keys of objects of merged hours that were missing or damaged and are not any more, or that no record names any more. Throws `StoreError`. */
export async function* repairedObjects(
  store: ObjectStore,
  missing: IndexState['missing'],
): AsyncGenerator<{ readonly key: string; readonly hour: string }> {
  for (const { key } of missing) {
    const folder = segmentsFolderOf(key);
    if (folder === null) continue;
    const hour = hourAt(startOfHour(key));
    const { records, faults } = await readMergedHour(store, hour, folder);
    const record = records.find(({ object }) => object === key);
    if (faults.some((fault) => fault.key === key)) continue;
    if (record === undefined || (await isReadable(store, record))) yield { key, hour };
  }
}

async function isReadable(store: ObjectStore, record: MergeRecord): Promise<boolean> {
  try {
    for await (const _segment of readMergedSegments(store, record));
    return true;
  } catch (error) {
    if (error instanceof MergedHourError) return false;
    throw error;
  }
}
