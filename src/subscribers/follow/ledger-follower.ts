import { firstOpenHour, HOUR, isWhole, openHours, RELIST_WINDOW, storeClock } from '../../ledger/hours.js';
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

/** Milliseconds until segments that could not be read are retried for the first time. */
const RETRY = 10_000;
/** Milliseconds between checks of passed hours for late segments. */
const LATE_CHECK_EVERY = 24 * HOUR;

/** Start of a subscription: the end of the log. */
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
 * Reads every line of the ledger. Segments that appear late are read within a day, and repaired ones are retried, as long as their hour is
 * one of the last 72.
 */
export function createLedgerFollower({ store, state, clock, onFault }: FollowerOptions) {
  const place = placeAt(state);
  const reading = { store, place, onFault };
  const isRetryDue = createRetryPace();
  let lateCheckAt = Number.NEGATIVE_INFINITY;

  /** The store's time, which determines whether an hour is whole. */
  const now = storeClock(store, clock);
  const log = createLogFollower({ store, hours: place.hours, clock: now, onLost, onUnlisted: onFault });

  /** Lost segments of a whole hour are not reported: it may have been merged meanwhile, and they are retried. */
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
    if (Math.abs(time - lateCheckAt) < LATE_CHECK_EVERY) return;
    yield* readAgain(reading, hoursInOrder(store, 'oldest', place.before - RELIST_WINDOW, place.before - 1));
    lateCheckAt = time;
  }

  return {
    /**
     * Lines since the last call. A part counts as read once the next one is requested; otherwise it is yielded again. Throws `StoreError`;
     * the next call continues.
     */
    newLines,
    /** Position before the part that was yielded last, until the next one is requested. */
    progress: () => progressOf(place),
  };
}
