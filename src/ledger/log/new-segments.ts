import type { ObjectStore } from '../../store/object-store.js';
import { readAhead } from '../read-ahead.js';
import { fetchSegment, type UnparsedSegment } from '../read-segment.js';
import { UnreadableError } from '../retrying-reads.js';
import { segmentKey } from '../segment-key.js';
import { isLong, type LostSegments, type Numbered } from './covered-numbers.js';
import { type HourPosition, passOver } from './hour-position.js';
import { nullIfDamaged } from './merge-record.js';
import { createMergedFetcher } from './merged-segments.js';

/** A segment that was not taken before. Its reader takes it by `take`. */
export interface NewSegment extends Numbered {
  readonly place: HourPosition;
  readonly segment: UnparsedSegment;
}

/** Segments that are read at once. */
export const AT_ONCE = 8;

/** Segments of an hour by their numbers; those that are missing are read from its merged objects. */
export async function* takeAhead(
  store: ObjectStore,
  place: HourPosition,
  numbers: AsyncIterable<Numbered>,
  onLost: (lost: LostSegments) => void,
  concurrency = AT_ONCE,
): AsyncGenerator<NewSegment> {
  const { hour } = place;
  const fetchMerged = createMergedFetcher(store);
  for await (const { writer, number, segment, unreadable } of fetchAhead(
    store,
    place,
    numbers,
    concurrency,
  )) {
    // The hour can be merged, and its segments deleted, while they wait to be taken.
    const each = { hour, writer, number };
    const found = segment ?? (await fetchMerged(each).catch(nullIfDamaged));
    if (found !== null) yield { place, writer, number, segment: found };
    else {
      // A number is written only after the one before it: what is not there although it or a later one is listed is lost.
      passOver(place, { writer, to: number });
      onLost({ hour, writer, from: number, to: number, unreadable });
    }
  }
}

/** A segment as it was asked for by its number. */
interface FetchedSegment extends Numbered {
  /** Null where it is missing or cannot be read. */
  readonly segment: UnparsedSegment | null;
  readonly unreadable: UnreadableError | null;
}

/** Reads segments of an hour, in the order in which they are named. */
export function fetchAhead(
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
 * The numbers between listed ones that may be there all the same. A long gap counts as lost: a foreign object with a high number would cost
 * a call for each number before it.
 */
export function* numbersOfGap(gap: LostSegments, onLost: (lost: LostSegments) => void): Generator<Numbered> {
  const { writer, from, to } = gap;
  if (isLong(gap)) onLost(gap);
  else for (let number = from; number <= to; number += 1) yield { writer, number };
}
