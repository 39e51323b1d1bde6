import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { DOCUMENT_HEADERS } from '../../store/read-document.js';
import { readToEnd } from '../../store/read-to-end.js';
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
  openFaults,
  readMergedHour,
} from '../log/merge-record.js';
import { isDamagedSegment } from '../parse-segment.js';
import { readAhead } from '../read-ahead.js';
import { fetchSegment } from '../read-segment.js';
import type { MergeParts } from './merge-parts.js';
import { createMergedText, type MergedText } from './merged-text.js';
import { isSweepable } from './sweep-unnamed.js';

const OBJECT_BYTES = 8 * 1024 * 1024;
/** Segments of one object: its record stays a small document. */
const OBJECT_SEGMENTS = 20_000;
/** Bytes of a segment that is merged, so that no object exceeds 64 MiB. Ours have 1 MiB, or a single line. */
const SEGMENT_BYTES = 32 * 1024 * 1024;
/** Milliseconds that a process may take for an object. The sweep deletes one that no record names for a day. */
const DEADLINE = 3_600_000;

export interface MergeHourOptions {
  /** Folder of the last hour before this one that has lines. */
  readonly previous?: string | null | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with each record that this call wrote. */
  readonly onRecord?: ((record: MergeRecord) => void) | undefined;
  /** Called with what is damaged, missing or lost and does not hinder the merge. */
  readonly onFault?: ((reason: string) => void) | undefined;
}

/**
 * Merges the segments of a whole hour that no record of a sound object has. Any number of processes may do so at once and be killed at any
 * point. Resolves to what is merged of the hour then. Throws `StoreError`, and the signal's reason.
 */
export async function mergeHour(
  parts: MergeParts,
  hour: string,
  options: MergeHourOptions = {},
): Promise<MergedHour> {
  /** They stay segments. */
  const leftOut: Numbered[] = [];
  /** The record of another process that was faster. */
  let faster: number | null = null;
  for (;;) {
    options.signal?.throwIfAborted();
    const { store, folder = LEDGER_FOLDER } = parts;
    const merged = await readMergedHour(store, hour, folder, faster);
    for (const { message } of openFaults(merged)) options.onFault?.(message);
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
    else if ((await store.head(recordKey(folder, hour, n))) !== null) faster = n;
  }
}

/**
 * The text of the next segments that are to be merged; null without one.
 *
 * @param known what a record has, or was left out before
 * @param leftOut takes the segments that cannot be merged
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
  const leave = (place: Numbered, reason: string) => {
    leftOut.push(place);
    onFault?.(reason);
  };
  for await (const { place, key, segment } of reads) {
    signal?.throwIfAborted();
    if (segment === null) onFault?.(`${key} is lost`);
    else if (segment.content.length > SEGMENT_BYTES)
      leave(place, `${key} is too large for a segment, and is left out`);
    else if (isDamagedSegment(segment.content))
      leave(place, `${key} has lines that cannot be read, and is left out until it was restored`);
    else await text.add({ ...place, writtenAt: segment.writtenAt }, segment.content);
    await pause?.();
    if (text.size() >= objectBytes || text.segments() >= OBJECT_SEGMENTS) break;
  }
  return text.segments() === 0 ? null : text.finish();
}

/** The listed segments that are not among the known ones. */
async function* unmerged(
  store: ObjectStore,
  hour: string,
  known: CoveredSegments,
  folder: string | undefined,
): AsyncGenerator<ListedSegment> {
  for await (const segment of listSegments(store, hour, folder)) if (!known.has(segment)) yield segment;
}

/**
 * Writes the object, then the record, with which it counts. Null when another process was faster. Throws `StoreError`, also when the hour
 * is open by the store's clock: the sweep deletes the object.
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
  const isThere = result === 'created' || (await isSame(parts, object, key, body));
  if (!isThere || clock() - begunAt > DEADLINE) return null;
  // The hour was chosen by this machine's clock where nothing was written before. This write has measured the store's.
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
 * Whether an object that was there before has these bytes. False when it has its record by now, or was deleted. Throws `MergedHourError`
 * for other bytes, which are damaged, or of another line of Node, which compresses differently; such an object is deleted once it is a day
 * old.
 */
async function isSame(
  { store, clock }: MergeParts,
  object: string,
  record: string,
  body: Buffer,
): Promise<boolean> {
  if ((await store.head(record)) !== null) return false;
  const reading = await store.read(object);
  if (reading === null) return false;
  const { size, modifiedAt } = reading.info;
  if (size !== body.length) reading.body.destroy();
  else if (body.equals(await readToEnd(object, reading.body))) return true;
  if (!isSweepable(modifiedAt, clock() + store.clockOffset()))
    throw new MergedHourError(
      object,
      'it has other bytes than this process makes of its hour; once it is a day old, it is deleted and the hour merged',
    );
  await store.delete(object);
  return false;
}
