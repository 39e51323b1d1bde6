import { listDays } from '../../ledger/compact/list-hours.js';
import { firstOpenHour, HOUR, hourAt, openHours, startOfHour } from '../../ledger/hours.js';
import { createLogFollower } from '../../ledger/read/log/follow-log.js';
import { lastNumbers } from '../../ledger/read/log/hour-segments.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { OutboxState } from '../outbox-state.js';
import { createHourPosition, type HourPosition } from './hour-position.js';
import { type HourSending, sendSegments } from './send-segments.js';
import { reportLost, sendWholeHour } from './send-whole-hour.js';

export interface FollowerOptions extends Omit<HourSending, 'onPosition'> {
  readonly state: Pick<OutboxState, 'before' | 'hours'>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/**
 * Reads every line of the ledger once, whenever its segment appears: open hours by the next number of each writer, whole ones by their
 * compacted files. What is read is settled by the sender; what is not settled is read again after a take-over.
 */
export interface LedgerFollower {
  /** Reads what is new. Resolves to whether something was. Throws as the store does; the next call continues. */
  look(): Promise<boolean>;
  /** From when on lines may be unread, in milliseconds since the epoch; null when everything was read a moment ago. */
  position(): number | null;
  progress(): Pick<OutboxState, 'before' | 'hours'>;
}

const MINUTE = 60_000;
/** Milliseconds between attempts at whole hours that could not be sent wholly. */
const RETRY = 10_000;

/** Where a subscription begins: behind everything that is written. */
export async function beginningOf(
  store: ObjectStore,
  clock: number,
): Promise<Pick<OutboxState, 'before' | 'hours'>> {
  const hours = openHours(clock + store.clockOffset()).map(
    async (hour) =>
      [hour, { writers: Object.fromEntries(await lastNumbers(store, hour)), files: {} }] as const,
  );
  const begun = await Promise.all(hours);
  return { before: begun[0]?.[0] ?? hourAt(clock), hours: Object.fromEntries(begun) };
}

export function createLedgerFollower(options: FollowerOptions): LedgerFollower {
  const { store, state } = options;
  const hours = new Map(
    Object.entries(state.hours).map(([hour, progress]) => [hour, createHourPosition(hour, progress)]),
  );
  let { before } = state;
  let lookedAt = options.clock();
  /** When whole hours were last sent, also partly unreadable ones. */
  let triedAt = Number.NEGATIVE_INFINITY;
  let position: number | null = startOfHour(before);
  const sending: HourSending = {
    ...options,
    onPosition(time) {
      position = time;
    },
  };

  function follow(hour: string): HourPosition {
    const known = hours.get(hour) ?? createHourPosition(hour);
    hours.set(hour, known);
    return known;
  }

  /** The store's time: whether an hour is whole goes by it. */
  const now = () => options.clock() + store.clockOffset();
  const log = createLogFollower({
    ...{ store, hours, open: follow, clock: now },
    onLost: (lost) => reportLost(sending, lost),
  });

  /** Sends the hours that became whole, and those that were partly unreadable before. */
  async function sendWholeHours(): Promise<void> {
    const firstOpen = hourAt(firstOpenHour(now()));
    const due = new Set([...hours.keys()].filter((hour) => hour < firstOpen));
    const time = now();
    if (before >= firstOpen && (due.size === 0 || Math.abs(time - triedAt) < RETRY)) return;
    triedAt = time;
    for await (const day of listDays(store, before)) {
      for (const hour of day.hours) if (hour >= before && hour < firstOpen) due.add(hour);
    }
    for (const hour of [...due].sort()) await sendWhole(hour);
    if (before < firstOpen) before = firstOpen;
  }

  async function sendWhole(hour: string): Promise<void> {
    const isSent = await sendWholeHour(sending, follow(hour));
    if (isSent) hours.delete(hour);
    if (hour >= before) before = hourAt(startOfHour(hour) + HOUR);
  }

  return {
    async look() {
      position ??= lookedAt;
      await sendWholeHours();
      const { sent } = await sendSegments(sending, log.newSegments());
      lookedAt = options.clock();
      position = null;
      return sent.length > 0;
    },
    position() {
      const clock = options.clock();
      return position ?? (Math.abs(clock - lookedAt) >= MINUTE ? Math.min(lookedAt, clock) : null);
    },
    progress: () => ({
      before,
      hours: Object.fromEntries([...hours].map(([hour, each]) => [hour, each.progress()])),
    }),
  };
}
