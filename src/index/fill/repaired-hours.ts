import { hourAt, startOfHour } from '../../ledger/hours.js';
import { segmentsFolderOf } from '../../ledger/ledger-keys.js';
import {
  MergedHourError,
  type MergeRecord,
  nullIfDamaged,
  openFaults,
  readMergedHour,
} from '../../ledger/log/merge-record.js';
import { createLogFetcher, type FetchFromLog, readMergedSegments } from '../../ledger/log/merged-segments.js';
import { parseSegmentKey, type SegmentPlace } from '../../ledger/segment-key.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { IndexCalls } from '../index-calls.js';
import type { IndexState } from '../index-state.js';
import { contentOf } from './segment-taker.js';

/** Missing numbers of a row that are asked for. */
const ASKED = 10;

/**
 * Hours of segments and objects that were missing or damaged and are not any more, each once. Segments with lines that cannot be read are
 * given to the index again. Throws `StoreError`.
 */
export async function* repairedHours(
  store: ObjectStore,
  index: IndexCalls,
  missing: IndexState['missing'],
): AsyncGenerator<string> {
  const fetch = createLogFetcher(store);
  const hours = new Set<string>();
  for (const each of missing) {
    const hour = hourAt(startOfHour(each.key));
    const place = parseSegmentKey(each.key);
    if (place === null) {
      if (!(await isObjectRepaired(store, hour, each.key))) continue;
      await index.call('forgetFault', each.key);
    } else if (hours.has(hour) || !(await isSegmentBack(fetch, index, place, each))) continue;
    if (!hours.has(hour)) yield hour;
    hours.add(hour);
  }
}

async function isSegmentBack(
  fetch: FetchFromLog,
  index: IndexCalls,
  first: SegmentPlace,
  { segments, unreadable }: IndexState['missing'][number],
): Promise<boolean> {
  for (let number = first.number; number < first.number + Math.min(segments, ASKED); number += 1) {
    const place = { ...first, number };
    const segment = await fetch(place).catch(nullIfDamaged);
    if (segment === null) continue;
    if (unreadable === null) return true;
    // What can be read of it by now is taken.
    await index.call('apply', [contentOf(place, segment)]);
    return false;
  }
  return false;
}

/** Whether an object is sound, or nothing needs it any more. */
async function isObjectRepaired(store: ObjectStore, hour: string, key: string): Promise<boolean> {
  const merged = await readMergedHour(store, hour, segmentsFolderOf(key) ?? undefined);
  if (openFaults(merged).some((fault) => fault.key === key)) return false;
  const record = merged.records.find(({ object }) => object === key);
  return record === undefined || (await isReadable(store, record));
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
