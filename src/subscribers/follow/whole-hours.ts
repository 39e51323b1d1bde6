import { HOUR, LISTED_AGAIN, startOfHour } from '../../ledger/hours.js';
import { describeLost, type LostSegments } from '../../ledger/log/covered-numbers.js';
import { followedHour } from '../../ledger/log/follow-log.js';
import { hoursInOrder } from '../../ledger/log/log-hours.js';
import { assertListed, type NamedHour } from '../../ledger/log/named-hours.js';
import type { FollowedHour, NewSegment } from '../../ledger/log/new-segments.js';
import { segmentsOfHour } from '../../ledger/log/segments-of-hour.js';
import type { ObjectStore } from '../../store/object-store.js';
import { linesByNumber, type SegmentLines } from './lines-by-number.js';
import { followedAt, type LogPlace, pass, passAgain, readLater } from './log-place.js';

export interface LogReading {
  readonly store: ObjectStore;
  readonly place: LogPlace;
  /** Called with what keeps lines from being read; all others are. */
  readonly onFault: (hour: string, error: Error) => void;
}

type Lines = AsyncGenerator<SegmentLines>;

/** What was not read of the hours before an instant. Throws `PartialListingError` before it passes over an hour. */
export async function* readWholeHours(reading: LogReading, end: number): Lines {
  const { store, place } = reading;
  if (place.before >= end) return;
  for await (const hour of hoursInOrder(store, 'oldest', place.before, end - 1)) {
    const numbers = followedHour(place.hours, hour);
    const named: NamedHour[] = [];
    yield* linesByNumber(
      // What is damaged may be brought back: what is behind is read again then.
      restOf(reading, numbers, () => readLater(place, numbers), named),
    );
    await assertListed(store, named, place.before);
    pass(place, startOfHour(hour) + HOUR);
  }
  pass(place, end);
}

/**
 * What was damaged in the hours that were passed last, and what appeared there late: a replica was slow, or a request delayed. Each hour is
 * read up to what is still damaged.
 */
export async function* readPassed(reading: LogReading, which: 'all' | 'unread'): Lines {
  const { store, place } = reading;
  const { before, unread } = place;
  const hours = which === 'all' ? hoursInOrder(store, 'oldest', before - LISTED_AGAIN, before - 1) : unread;
  for await (const hour of hours) {
    const known = place.passed[hour];
    if (known === undefined) {
      unread.delete(hour);
      continue;
    }
    const numbers = followedAt(hour, known);
    let isDamaged = false;
    const onDamage = () => {
      isDamaged = true;
    };
    const segments = restOf({ ...reading, onFault: () => undefined }, numbers, onDamage);
    yield* linesByNumber(takeWhile(segments, () => !isDamaged));
    passAgain(place, numbers);
    if (isDamaged) unread.add(hour);
    else unread.delete(hour);
  }
}

function restOf(
  { store, onFault }: LogReading,
  numbers: FollowedHour,
  onDamage: () => void,
  named: NamedHour[] = [],
): AsyncGenerator<NewSegment> {
  const { hour } = numbers;
  const reading = {
    store,
    onFault(fault: Error) {
      onFault(hour, fault);
      onDamage();
    },
    onPrevious: (previous: string, folder: string) => void named.push({ hour: previous, folder }),
    // Lost segments do not come back.
    onLost: (lost: LostSegments) => onFault(hour, new Error(describeLost(lost))),
  };
  return segmentsOfHour(reading, numbers);
}

async function* takeWhile<Item>(items: AsyncIterable<Item>, isWanted: () => boolean): AsyncGenerator<Item> {
  for await (const item of items) {
    if (!isWanted()) return;
    yield item;
  }
}
