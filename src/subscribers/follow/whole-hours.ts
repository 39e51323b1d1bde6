import { HOUR, startOfHour } from '../../ledger/hours.js';
import { describeLost, type LostSegments } from '../../ledger/log/covered-numbers.js';
import { followHour } from '../../ledger/log/follow-log.js';
import type { HourPosition } from '../../ledger/log/hour-position.js';
import { hoursInOrder } from '../../ledger/log/log-hours.js';
import type { NewSegment } from '../../ledger/log/new-segments.js';
import { assertPreviousListed, type PreviousHour } from '../../ledger/log/previous-hours.js';
import { segmentsOfHour } from '../../ledger/log/segments-of-hour.js';
import type { ObjectStore } from '../../store/object-store.js';
import { linesByNumber, type SegmentLines } from './lines-by-number.js';
import { keepPassed, type LogPlace, pass, positionIn } from './log-place.js';

export interface LogReading {
  readonly store: ObjectStore;
  readonly place: LogPlace;
  /** Called when lines cannot be read; reading continues with the others. */
  readonly onFault: (hour: string, error: Error) => void;
}

type Lines = AsyncGenerator<SegmentLines>;

/** Unread lines of the hours before an instant. Throws `PartialListingError` rather than skip an hour. */
export async function* readWholeHours(reading: LogReading, end: number): Lines {
  const { store, place } = reading;
  if (place.before >= end) return;
  for await (const hour of hoursInOrder(store, 'oldest', place.before, end - 1)) {
    const numbers = followHour(place.hours, hour);
    const previous: PreviousHour[] = [];
    yield* linesByNumber(
      // A damaged object may be restored, so the hour is read again.
      restOf(reading, numbers, () => void place.unread.add(hour), previous),
    );
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
  const { place } = reading;
  const { unread } = place;
  for await (const hour of hours) {
    const position = positionIn(place, hour);
    if (position === null) {
      unread.delete(hour);
      continue;
    }
    let isDamaged = false;
    const onDamage = () => {
      isDamaged = true;
    };
    yield* linesByNumber(restOf({ ...reading, onFault: () => undefined }, position, onDamage));
    if (Object.hasOwn(place.passed, hour)) keepPassed(place, position);
    if (isDamaged) unread.add(hour);
    else unread.delete(hour);
  }
}

function restOf(
  { store, onFault }: LogReading,
  position: HourPosition,
  onDamage: () => void,
  previous: PreviousHour[] = [],
): AsyncGenerator<NewSegment> {
  const { hour } = position;
  const reading = {
    store,
    onFault(fault: Error) {
      onFault(hour, fault);
      onDamage();
    },
    onPrevious: (earlier: string, folder: string) => void previous.push({ hour: earlier, folder }),
    onLost: (lost: LostSegments) => onFault(hour, new Error(describeLost(lost))),
  };
  return segmentsOfHour(reading, position);
}
