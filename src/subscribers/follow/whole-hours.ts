import { HOUR, startOfHour } from '../../ledger/hours.js';
import { describeLost, type LostSegments } from '../../ledger/log/covered-numbers.js';
import { hoursInOrder } from '../../ledger/log/log-hours.js';
import type { NewSegment } from '../../ledger/log/new-segments.js';
import { segmentsOfHour } from '../../ledger/log/segments-of-hour.js';
import type { ObjectStore } from '../../store/object-store.js';
import { linesByNumber, type SegmentLines } from './lines-by-number.js';
import { type HourNumbers, type LogPlace, numbersOf, readLater } from './log-place.js';

export interface LogReading {
  readonly store: ObjectStore;
  readonly place: LogPlace;
  /** Called with what keeps lines from being read; all others are. */
  readonly onFault: (hour: string, error: Error) => void;
}

type Lines = AsyncGenerator<SegmentLines>;

/** What was not read of the hours before an instant. */
export async function* readWholeHours(reading: LogReading, end: number): Lines {
  const { store, place } = reading;
  if (place.before >= end) return;
  for await (const hour of hoursInOrder(store, 'oldest', place.before, end - 1)) {
    const numbers = numbersOf(place, hour);
    const isAll = yield* linesByNumber(
      // What is damaged may be brought back: from there on the hour is read later.
      restOf(reading, numbers, () => readLater(place, numbers)),
    );
    if (!isAll) readLater(place, numbers);
    pass(place, startOfHour(hour) + HOUR);
  }
  pass(place, end);
}

function pass(place: LogPlace, time: number): void {
  place.before = time;
  for (const hour of place.hours.keys()) if (startOfHour(hour) < time) place.hours.delete(hour);
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
    if (isAll && !isDamaged) again.delete(hour);
  }
}

function restOf(
  { store, onFault }: LogReading,
  numbers: HourNumbers,
  onDamage: () => void,
): AsyncGenerator<NewSegment<HourNumbers>> {
  const { hour } = numbers;
  const reading = {
    store,
    onFault(fault: Error) {
      onFault(hour, fault);
      onDamage();
    },
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
