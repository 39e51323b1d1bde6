import type { ObjectStore } from '../../store/object-store.js';
import { readAhead } from '../read-ahead.js';
import { fetchSegment, type UnparsedSegment } from '../read-segment.js';
import { UnreadableError } from '../retrying-reads.js';
import { segmentKey } from '../segment-key.js';
import { isLong, type LostSegments, type Numbered } from './covered-numbers.js';
import { type HourPosition, markMissing } from './hour-position.js';
import { nullIfDamaged } from './merge-record.js';
import { createMergedFetcher } from './merged-segments.js';

/** A segment that was not read before. Its reader calls `markRead`. */
export interface NewSegment extends Numbered {
  readonly position: HourPosition;
  readonly segment: UnparsedSegment;
}

/** Segments read concurrently. */
export const AT_ONCE = 8;

/** Fetches segments of an hour by number, from its merged objects when they have none of their own. Marks lost ones as missing. */
export async function* fetchNewSegments(
  store: ObjectStore,
  position: HourPosition,
  numbers: AsyncIterable<Numbered>,
  onLost: (lost: LostSegments) => void,
  concurrency = AT_ONCE,
): AsyncGenerator<NewSegment> {
  const { hour } = position;
  const fetchMerged = createMergedFetcher(store);
  for await (const { writer, number, segment, unreadable } of fetchSegments(
    store,
    position,
    numbers,
    concurrency,
  )) {
    // The hour may be merged, and its segments deleted, while they wait to be read.
    const each = { hour, writer, number };
    const found = segment ?? (await fetchMerged(each).catch(nullIfDamaged));
    if (found !== null) yield { position, writer, number, segment: found };
    else {
      // A number is written only after the one before it, so a missing number is lost when it or a later one is listed.
      markMissing(position, { writer, to: number });
      onLost({ hour, writer, from: number, to: number, unreadable });
    }
  }
}

/** The result of fetching a segment by its number. */
interface FetchedSegment extends Numbered {
  /** Null where it is missing or cannot be read. */
  readonly segment: UnparsedSegment | null;
  readonly unreadable: UnreadableError | null;
}

/** Fetches segments of an hour, in the given order. */
export function fetchSegments(
  store: ObjectStore,
  { hour }: Pick<HourPosition, 'hour'>,
  numbers: AsyncIterable<Numbered> | Iterable<Numbered>,
  concurrency = AT_ONCE,
): AsyncGenerator<FetchedSegment> {
  return readAhead(numbers, concurrency, async ({ writer, number }) => {
    try {
      const segment = await fetchSegment(store, segmentKey({ hour, writer, number }));
      return { writer, number, segment, unreadable: null };
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error;
      return { writer, number, segment: null, unreadable: error };
    }
  });
}

/**
 * The unlisted numbers of a gap, which may exist all the same. A long gap counts as lost: a foreign object with a high number would cost a
 * call for each number before it.
 */
export function* numbersOfGap(gap: LostSegments, onLost: (lost: LostSegments) => void): Generator<Numbered> {
  const { writer, from, to } = gap;
  if (isLong(gap)) onLost(gap);
  else for (let number = from; number <= to; number += 1) yield { writer, number };
}
