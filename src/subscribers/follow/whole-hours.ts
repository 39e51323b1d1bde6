import { HOUR, LISTED_AGAIN, startOfHour } from '../../ledger/hours.js';
import { describeLost, type LostSegments } from '../../ledger/log/covered-numbers.js';
import { followedHour } from '../../ledger/log/follow-log.js';
import { hoursInOrder } from '../../ledger/log/log-hours.js';
import { assertListed, type NamedHour } from '../../ledger/log/named-hours.js';
import type { FollowedHour, NewSegment } from '../../ledger/log/new-segments.js';
import { segmentsOfHour } from '../../ledger/log/segments-of-hour.js';
import type { ObjectStore } from '../../store/object-store.js';
import { linesByNumber, type SegmentLines } from './lines-by-number.js';
import { type LogPlace, pass, passAgain, readLater } from './log-place.js';

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
    const isAll = yield* linesByNumber(
      // What is damaged may be brought back: from there on the hour is read later.
      restOf(reading, numbers, () => readLater(place, numbers), named),
    );
    await assertListed(store, named, place.before);
    if (!isAll) readLater(place, numbers);
    pass(place, startOfHour(hour) + HOUR);
  }
  pass(place, end);
}

/** Hours that could not be read wholly, up to where they still cannot: what is behind was read before. */
export async function* readAgain(reading: LogReading): Lines {
  const { again } = reading.place;
  for (const [hour, numbers] of again) {
    let isDamaged = false;
    const onDamage = () => {
      isDamaged = true;
    };
    const segments = restOf(reading, numbers, onDamage);
    const isAll = yield* linesByNumber(takeWhile(segments, () => !isDamaged));
    if (!isAll || isDamaged) continue;
    again.delete(hour);
    passAgain(reading.place, numbers);
  }
}

/**
 * What appeared in the hours that were read last, after they were whole: a replica was slow, or a request delayed. Damage hides nothing there
 * but what is late itself, and is left to the next time.
 */
export async function* readLate(reading: LogReading): Lines {
  const { store, place } = reading;
  const { before } = place;
  for await (const hour of hoursInOrder(store, 'oldest', before - LISTED_AGAIN, before - 1)) {
    const known = place.passed[hour];
    if (known === undefined || place.again.has(hour)) continue;
    const numbers = { hour, read: new Map(Object.entries(known)) };
    yield* linesByNumber(restOf({ ...reading, onFault: () => undefined }, numbers, () => undefined));
    passAgain(place, numbers);
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
