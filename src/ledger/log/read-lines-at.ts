import pLimit from 'p-limit';
import type { LedgerLine } from '../../domain/delivery.js';
import type { ObjectStore } from '../../store/object-store.js';
import { readBytes } from '../../store/read-to-end.js';
import { hourAt } from '../hours.js';
import { type LineSpan, parseLine } from '../parse-segment.js';
import { readAhead } from '../read-ahead.js';
import { MAX_SEGMENT_BYTES } from '../read-segment.js';
import { retryingReads } from '../retrying-reads.js';
import { type SegmentPlace, segmentKey } from '../segment-key.js';
import type { LinePlace } from './line-place.js';
import { nullIfDamaged } from './merge-record.js';
import { createMergedFetcher } from './merged-segments.js';

/** The place of a line, and the position of its text. */
export interface PlacedLine extends LinePlace {
  /** When the hour of its segment began, in milliseconds since the epoch. */
  readonly hour: number;
  readonly span: LineSpan;
}

/**
 * Segments that the whole process reads concurrently: each takes the event loop and one of Node's four threads for files, which callbacks
 * need as well. An object store takes some 30 ms for each.
 */
const AT_ONCE = 4;
const limit = pLimit(AT_ONCE);

/** Lines of a segment that could be read once and cannot be read now. */
export interface UnreadLines {
  readonly key: string;
  /** Number of the wanted lines that are affected; null when the whole segment is missing or cannot be read. */
  readonly lines: number | null;
}

export interface LinesAt {
  /** Lines in the order of the places; null for one that no longer exists or cannot be read. */
  readonly lines: readonly (LedgerLine | null)[];
  /** Segments whose lines could not be read. */
  readonly unread: readonly UnreadLines[];
}

/** Positions of the wanted lines of a segment, by their indices in it. */
type Spans = Map<number, LineSpan>;

/** The lines at these places. Each segment is read once. Rejects with `StoreError`, and with the reason of the signal. */
export async function readLinesAt(
  store: ObjectStore,
  places: readonly PlacedLine[],
  signal?: AbortSignal,
): Promise<LinesAt> {
  const wanted = new Map<string, { readonly segment: SegmentPlace; readonly spans: Spans }>();
  const keys = places.map(({ hour, writer, number, line, span }) => {
    const segment = { hour: hourAt(hour), writer, number };
    const key = segmentKey(segment);
    const known = wanted.get(key) ?? { segment, spans: new Map() };
    known.spans.set(line, span);
    wanted.set(key, known);
    return key;
  });
  // A client waits for the answer, so a failed read is retried immediately.
  const retrying = retryingReads(store, [0]);
  const fetchMerged = createMergedFetcher(retrying);
  const reads = readAhead(wanted, AT_ONCE, async ([key, { segment, spans }]) => {
    const found = await limit(async () => {
      signal?.throwIfAborted();
      const own = await readSegmentLines(retrying, key, spans).catch(nullIfDamaged);
      if (own !== null) return own;
      const merged = await fetchMerged(segment).catch(nullIfDamaged);
      return merged && linesIn(merged.content, 0, spans);
    });
    return { key, wanted: spans.size, found };
  });
  const lines = new Map<string, ReadonlyMap<number, LedgerLine>>();
  const unread: UnreadLines[] = [];
  for await (const { key, wanted, found } of reads) {
    if (found !== null) lines.set(key, found);
    if (found === null) unread.push({ key, lines: null });
    else if (found.size < wanted) unread.push({ key, lines: wanted - found.size });
  }
  return { lines: places.map(({ line }, at) => lines.get(keys[at] ?? '')?.get(line) ?? null), unread };
}

/** Lines of a segment that has an object of its own; null when that is missing. */
async function readSegmentLines(
  store: ObjectStore,
  key: string,
  spans: Spans,
): Promise<ReadonlyMap<number, LedgerLine> | null> {
  const known = [...spans.values()];
  const from = Math.min(...known.map(({ start }) => start));
  const end = Math.max(...known.map(({ start, length }) => start + length));
  const found = await readBytes(store, key, MAX_SEGMENT_BYTES, { start: from, end: end - 1 });
  return found?.bytes ? linesIn(found.bytes, from, spans) : null;
}

/** Parses the wanted lines, by index. @param from offset of `bytes` in the segment, which may have been edited by hand */
function linesIn(bytes: Buffer, from: number, spans: Spans): ReadonlyMap<number, LedgerLine> {
  const lines = new Map<number, LedgerLine>();
  for (const [index, { start, length }] of spans) {
    const line = parseLine(bytes.subarray(start - from, start - from + length));
    if (line !== null) lines.set(index, line);
  }
  return lines;
}
