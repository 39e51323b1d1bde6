import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { DOCUMENT_HEADERS } from '../../store/read-document.js';
import { readBytes } from '../../store/read-to-end.js';
import { clockDifference } from '../../store/store-remedies.js';
import { isWhole } from '../hours.js';
import { LEDGER_FOLDER, mergedObjectKey, recordKey } from '../ledger-keys.js';
import { type ListedSegment, listSegments } from '../list-segments.js';
import { type CoveredSegments, coveredNumbers, describeLost, type Numbered } from '../log/covered-numbers.js';
import {
  encodeRecord,
  type MergedHour,
  MergedHourError,
  type MergeRecord,
  readMergedHour,
  unresolvedFaults,
} from '../log/merge-record.js';
import { isDamagedSegment } from '../parse-segment.js';
import { readAhead } from '../read-ahead.js';
import { fetchSegment } from '../read-segment.js';
import type { MergeParts } from './merge-parts.js';
import { createMergedText, type MergedText } from './merged-text.js';
import { isSweepable } from './sweep-unnamed.js';

const OBJECT_BYTES = 8 * 1024 * 1024;
/** Segments of one object at most, so that its record stays small. */
const OBJECT_SEGMENTS = 20_000;
/** Largest segment that is merged, so that no object exceeds 64 MiB. The receiver's own have 1 MiB, or a single line. */
const SEGMENT_BYTES = 32 * 1024 * 1024;
/** Milliseconds that a process may take for an object. The sweep deletes objects that no record names for a day. */
const DEADLINE = 3_600_000;

export interface MergeHourOptions {
  /** Folder of the previous hour that has lines. */
  readonly previous?: string | null | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with each record that this call wrote. */
  readonly onRecord?: ((record: MergeRecord) => void) | undefined;
  /** Called for each damaged, missing or lost object that does not stop the merge. */
  readonly onFault?: ((reason: string) => void) | undefined;
}

/**
 * Merges the segments of a whole hour that no record with a sound object covers. Any number of processes may merge it at once and be killed
 * at any point. Resolves to the merged hour. Throws `StoreError`, and the signal's reason.
 */
export async function mergeHour(
  parts: MergeParts,
  hour: string,
  options: MergeHourOptions = {},
): Promise<MergedHour> {
  /** Segments that cannot be merged. */
  const leftOut: Numbered[] = [];
  /** Number of the record that another process wrote first. */
  let otherRecord: number | null = null;
  for (;;) {
    options.signal?.throwIfAborted();
    const { store, folder = LEDGER_FOLDER } = parts;
    const merged = await readMergedHour(store, hour, folder, otherRecord);
    for (const { message } of unresolvedFaults(merged)) options.onFault?.(message);
    const begunAt = parts.clock();
    const known = () => coveredNumbers([...merged.records, { segments: leftOut }]);
    const text = await mergeNext(parts, hour, known(), leftOut, options);
    if (text === null) {
      for (const gap of known().gaps()) options.onFault?.(describeLost({ hour, ...gap }));
      return merged;
    }
    options.signal?.throwIfAborted();
    const n = merged.last + 1;
    const record = await commit(parts, { hour, n, begunAt, ...options }, text);
    if (record !== null) options.onRecord?.(record);
    else if ((await store.head(recordKey(folder, hour, n))) !== null) otherRecord = n;
  }
}

/**
 * The text of the next segments to merge; null when none is left.
 *
 * @param known segments that a record covers or that were left out
 * @param leftOut receives the segments that cannot be merged
 */
async function mergeNext(
  parts: MergeParts,
  hour: string,
  known: CoveredSegments,
  leftOut: Numbered[],
  { signal, onFault }: MergeHourOptions,
): Promise<MergedText | null> {
  const { store, folder, objectBytes = OBJECT_BYTES, concurrency = 16, pause } = parts;
  const text = createMergedText();
  const reads = readAhead(
    unmerged(store, hour, known, folder),
    concurrency,
    async ({ key, writer, number }) => ({
      key,
      place: { writer, number },
      segment: await fetchSegment(store, key),
    }),
  );
  const leaveOut = (place: Numbered, reason: string) => {
    leftOut.push(place);
    onFault?.(reason);
  };
  for await (const { place, key, segment } of reads) {
    signal?.throwIfAborted();
    if (segment === null) onFault?.(`${key} is lost`);
    else if (segment.content.length > SEGMENT_BYTES)
      leaveOut(place, `${key} is too large for a segment, and is left out`);
    else if (isDamagedSegment(segment.content))
      leaveOut(place, `${key} has lines that cannot be read, and is left out until it was restored`);
    else await text.add({ ...place, writtenAt: segment.writtenAt }, segment.content);
    await pause?.();
    if (text.size() >= objectBytes || text.segments() >= OBJECT_SEGMENTS) break;
  }
  return text.segments() === 0 ? null : text.finish();
}

/** The listed segments that are not known. */
async function* unmerged(
  store: ObjectStore,
  hour: string,
  known: CoveredSegments,
  folder: string | undefined,
): AsyncGenerator<ListedSegment> {
  for await (const segment of listSegments(store, hour, folder)) if (!known.has(segment)) yield segment;
}

/**
 * Writes the object, then the record that makes it count. Null when another process wrote the record first. Throws `StoreError`, also when
 * the hour is still open by the store's clock; then the sweep deletes the object.
 */
async function commit(
  parts: MergeParts,
  { hour, n, begunAt, previous = null }: MergeHourOptions & { hour: string; n: number; begunAt: number },
  { object: body, ...text }: MergedText,
): Promise<MergeRecord | null> {
  const { store, clock, folder = LEDGER_FOLDER } = parts;
  const object = mergedObjectKey(folder, hour, n, text.sha256);
  const key = recordKey(folder, hour, n);
  const result = await store.create(object, body, { contentType: 'application/gzip', metadata: {} });
  const isThere = result === 'created' || (await holdsSameBytes(parts, object, key, body));
  if (!isThere || clock() - begunAt > DEADLINE) return null;
  // Before this write the store's clock may never have been measured, so the hour may have been chosen by this machine's clock alone.
  const offset = store.clockOffset();
  if (!isWhole(hour, clock() + offset)) {
    const difference = clockDifference(offset);
    throw new StoreError(
      'merge',
      `this machine's clock is ${difference} the store's, by which the hour is still open`,
    );
  }
  const record: MergeRecord = { hour, n, previous, object, ...text };
  return (await store.create(key, encodeRecord(record), DOCUMENT_HEADERS)) === 'created' ? record : null;
}

/**
 * Whether an existing object has these bytes. False when its record exists by now, or it was deleted. Throws `MergedHourError` for other
 * bytes: they are damaged, or of another Node version, which compresses differently. Such an object is deleted once it is a day old.
 */
async function holdsSameBytes(
  { store, clock }: MergeParts,
  object: string,
  record: string,
  body: Buffer,
): Promise<boolean> {
  if ((await store.head(record)) !== null) return false;
  const found = await readBytes(store, object, body.length);
  if (found === null) return false;
  if (found.bytes?.equals(body)) return true;
  if (!isSweepable(found.info.modifiedAt, clock() + store.clockOffset()))
    throw new MergedHourError(
      object,
      'it has other bytes than this process makes of its hour; once it is a day old, it is deleted and the hour merged',
    );
  await store.delete(object);
  return false;
}
