import { firstOpenHour, HOUR, isWhole, LISTED_AGAIN, openHours, storeClock } from '../../ledger/hours.js';
import { listSegments } from '../../ledger/list-segments.js';
import { describeLost, type LostSegments } from '../../ledger/log/covered-numbers.js';
import { createLogFollower } from '../../ledger/log/follow-log.js';
import { hoursInOrder } from '../../ledger/log/log-hours.js';
import { createRetryPace } from '../../ledger/log/retry-pace.js';
import type { ObjectStore } from '../../store/object-store.js';
import { linesByNumber, type SegmentLines } from './lines-by-number.js';
import { type LogProgress, lackingHours, placeAt, progressOf, reopen } from './log-place.js';
import { type LogReading, readAgain, readWholeHours } from './whole-hours.js';

interface FollowerOptions extends Omit<LogReading, 'place'> {
  readonly state: LogProgress;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Milliseconds until the first further attempt at what could not be read. */
const RETRY = 10_000;
/** Milliseconds between listings of the hours that were read last. */
const LATE = 24 * HOUR;

/** Start of a subscription: behind everything that is written. */
export async function beginningOf(store: ObjectStore, clock: number): Promise<LogProgress> {
  const time = clock + store.clockOffset();
  const hours = openHours(time).map(async (hour) => [hour, await lastNumbers(store, hour)] as const);
  return {
    before: firstOpenHour(time),
    hours: Object.fromEntries(await Promise.all(hours)),
    passed: {},
    missing: {},
  };
}

async function lastNumbers(store: ObjectStore, hour: string): Promise<Record<string, number>> {
  const numbers: Record<string, number> = {};
  for await (const { writer, number } of listSegments(store, hour)) numbers[writer] = number;
  return numbers;
}

/**
 * Reads every line of the ledger, whenever its segment appears; what appears late or is repaired as long as its hour is one of the last 72:
 * the former within a day.
 */
export function createLedgerFollower({ store, state, clock, onFault }: FollowerOptions) {
  const place = placeAt(state);
  const reading = { store, place, onFault };
  const isRetryDue = createRetryPace();
  let lookedForLateAt = Number.NEGATIVE_INFINITY;

  /** The store's time: whether an hour is whole goes by it. */
  const now = storeClock(store, clock);
  const log = createLogFollower({ store, hours: place.hours, clock: now, onLost, onUnlisted: onFault });

  /** The hour may have been merged, and its segments deleted, while its lines waited to be taken: what is missing is asked for again. */
  function onLost(lost: LostSegments): void {
    if (!isWhole(lost.hour, now())) onFault(lost.hour, new Error(describeLost(lost)));
  }

  async function* newLines(): AsyncGenerator<SegmentLines> {
    const time = now();
    reopen(place, firstOpenHour(time));
    yield* readWholeHours(reading, firstOpenHour(time));
    yield* linesByNumber(log.newSegments());
    const lacking = lackingHours(place);
    if (isRetryDue([...lacking], time, RETRY)) yield* readAgain(reading, lacking);
    if (Math.abs(time - lookedForLateAt) < LATE) return;
    yield* readAgain(reading, hoursInOrder(store, 'oldest', place.before - LISTED_AGAIN, place.before - 1));
    lookedForLateAt = time;
  }

  return {
    /** What is new, each part again unless the next one is asked for. Throws `StoreError`; the next call continues. */
    newLines,
    /** Position before the lines that were returned last, until the next ones are requested. */
    progress: () => progressOf(place),
  };
}
