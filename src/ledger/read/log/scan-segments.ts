import type { ObjectStore } from '../../../store/object-store.js';
import { cooperativeYield } from '../../../time/cooperative-yield.js';
import type { ListedSegment } from '../../list-segments.js';
import { readAhead } from '../../read-ahead.js';
import { fetchSegment } from '../../read-segment.js';
import type { CoveredNumbers } from '../../rollup/rollup.js';
import { segmentKey } from '../../segment-key.js';
import { segmentsInOrder } from './hour-segments.js';
import { entryOf, inOrder, type LogEntry, type LogStep } from './log-entry.js';
import { endOf, type LogFilter, type LogRange, matchesLine } from './log-filter.js';
import { beforeInstant, comparePositions } from './log-position.js';

export interface SegmentScan {
  readonly store: ObjectStore;
  /** Folder of the hour, `dt=…/hour=HH/`. */
  readonly hour: string;
  readonly range: LogRange;
  readonly filter: LogFilter;
  /** Only segments with these numbers, and some of them may have been deleted; null: all, and none may be missing. */
  readonly only: CoveredNumbers | null;
  readonly signal?: AbortSignal | undefined;
  /** Called with what cannot be read. */
  readonly onFault: (text: string, key: string) => void;
  /** Called with lines that cannot be parsed, or are of a newer version. */
  readonly onSkipped: (key: string, lines: { readonly broken: number; readonly newer: number }) => void;
}

/** Segments that are read at once: a store of objects takes some 30 ms for each. */
const CONCURRENCY = 32;
/** Bounds of a step, after which the reader may stop. */
const STEP_SEGMENTS = 256;
const STEP_BYTES = 4 * 1024 * 1024;

/** The matching lines of an hour's segments. Rejects with `StoreError`. */
export async function* scanSegments(scan: SegmentScan): AsyncGenerator<LogStep> {
  const { store, hour, range, only, signal, onFault } = scan;
  const { order, since } = range;
  const segments = segmentsInOrder({
    ...{ store, hour, order, since, until: endOf(range), only, signal },
    onGap(writer, from, to) {
      if (only !== null) return;
      const key = segmentKey({ hour, writer, number: from });
      onFault(`${key}${to > from ? ` and ${to - from} more` : ''}, which is missing`, key);
    },
  });
  for await (const step of inSteps(segments)) {
    const last = step.at(-1)?.writtenAt ?? 0;
    const entries = await readStep(scan, step);
    yield { entries: inOrder(entries, order), at: beforeInstant(order === 'oldest' ? last + 1 : last) };
  }
}

/** Segments that were written at one instant stay together: the order of their lines shows only once they are read. */
async function* inSteps(segments: AsyncIterable<ListedSegment>): AsyncGenerator<ListedSegment[]> {
  let step: ListedSegment[] = [];
  let bytes = 0;
  for await (const segment of segments) {
    const isFull = step.length >= STEP_SEGMENTS || bytes >= STEP_BYTES;
    if (isFull && step.at(-1)?.writtenAt !== segment.writtenAt) {
      yield step;
      step = [];
      bytes = 0;
    }
    step.push(segment);
    bytes += segment.size;
  }
  if (step.length > 0) yield step;
}

async function readStep(scan: SegmentScan, segments: readonly ListedSegment[]): Promise<LogEntry[]> {
  const { store, filter, range, only, signal, onFault, onSkipped } = scan;
  const { job } = filter.wanted;
  const pause = cooperativeYield();
  const entries: LogEntry[] = [];
  const reads = readAhead(segments, CONCURRENCY, async (segment) => {
    signal?.throwIfAborted();
    return { segment, unparsed: await fetchSegment(store, segment.key) };
  });
  for await (const { segment, unparsed } of reads) {
    if (unparsed === null && only === null) onFault(`${segment.key}, which is missing`, segment.key);
    const parsed = unparsed?.parse(job);
    const [broken, newer] = [parsed?.brokenLines.length ?? 0, parsed?.newerLines.length ?? 0];
    if (broken + newer > 0) onSkipped(segment.key, { broken, newer });
    for (const { line } of parsed?.entries ?? []) {
      if (!matchesLine(filter, line)) continue;
      const entry = entryOf(line, segment.writtenAt);
      if (comparePositions(entry, range.before) < 0) entries.push(entry);
    }
    await pause();
  }
  return entries;
}
