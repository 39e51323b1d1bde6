import { HOUR, startOfHour } from '../../ledger/hours.js';
import { describeLost, type LostSegments } from '../../ledger/log/covered-numbers.js';
import { followHour } from '../../ledger/log/follow-log.js';
import type { HourPosition } from '../../ledger/log/hour-position.js';
import { hoursInOrder } from '../../ledger/log/log-hours.js';
import { assertPreviousListed, type PreviousHour } from '../../ledger/log/previous-hours.js';
import { segmentsOfHour } from '../../ledger/log/segments-of-hour.js';
import type { ObjectStore } from '../../store/object-store.js';
import { linesByNumber, type SegmentLines } from './lines-by-number.js';
import { type LogPlace, pass } from './log-place.js';

export interface LogReading {
  readonly store: ObjectStore;
  readonly place: LogPlace;
  /** Called when lines cannot be read; reading continues with the others. */
  readonly onFault: (hour: string, error: Error) => void;
}

type Lines<Result = void> = AsyncGenerator<SegmentLines, Result>;

/** Unread lines of the hours before an instant. Throws `PartialListingError` rather than skip an hour. */
export async function* readWholeHours(reading: LogReading, end: number): Lines {
  const { store, place } = reading;
  if (place.before >= end) return;
  for await (const hour of hoursInOrder(store, 'oldest', place.before, end - 1)) {
    const previous = yield* restOf(reading, followHour(place.hours, hour));
    await assertPreviousListed(store, previous, place.before);
    pass(place, startOfHour(hour) + HOUR);
  }
  pass(place, end);
}

/** Lines of passed hours that were missing or damaged, or that appeared late, if they can be read now. */
export async function* readAgain(
  reading: LogReading,
  hours: AsyncIterable<string> | Iterable<string>,
): Lines {
  const { hours: known, unread } = reading.place;
  for await (const hour of hours) {
    const position = known.get(hour);
    if (position === undefined) unread.delete(hour);
    else yield* restOf({ ...reading, onFault: () => undefined }, position);
  }
}

/** Unread lines of an hour. Returns the previous hours that its records name. */
async function* restOf({ store, place, onFault }: LogReading, position: HourPosition): Lines<PreviousHour[]> {
  const { hour } = position;
  const previous: PreviousHour[] = [];
  let isDamaged = false;
  const reading = {
    store,
    onFault(fault: Error) {
      onFault(hour, fault);
      isDamaged = true;
    },
    onPrevious: (earlier: string, folder: string) => void previous.push({ hour: earlier, folder }),
    onLost: (lost: LostSegments) => onFault(hour, new Error(describeLost(lost))),
  };
  yield* linesByNumber(segmentsOfHour(reading, position));
  // A damaged object may be restored, so the hour is read again.
  if (isDamaged) place.unread.add(hour);
  else place.unread.delete(hour);
  return previous;
}
