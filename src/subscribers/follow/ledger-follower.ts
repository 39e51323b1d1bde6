import { listDays } from '../../ledger/compact/list-hours.js';
import { HOUR, hourAt, openHours, startOfHour } from '../../ledger/hours.js';
import { listSegments } from '../../ledger/list-segments.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { OutboxState } from '../outbox-state.js';
import { createHourPosition, type HourPosition } from './hour-position.js';
import { type HourSending, sendListed, sendNext } from './send-segments.js';
import { sendWholeHour } from './send-whole-hour.js';

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
/** Between listings of an hour that is asked for by number: the events of a new writer are that late. */
const RELIST = 10_000;
/** Segments of an hour that one call lists, with those that are new. */
const SMALL = 500;

/** Where a subscription begins: behind everything that is written. */
export async function beginningOf(
  store: ObjectStore,
  now: number,
): Promise<Pick<OutboxState, 'before' | 'hours'>> {
  const positions: HourPosition[] = [];
  for (const hour of openHours(now)) {
    const position = createHourPosition(hour);
    for await (const { writer, number } of listSegments(store, hour)) position.advance(writer, number)();
    positions.push(position);
  }
  const hours = Object.fromEntries(positions.map((position) => [position.hour, position.progress()]));
  return { before: positions[0]?.hour ?? hourAt(now), hours };
}

function isSmall({ read }: HourPosition): boolean {
  let numbers = 0;
  for (const last of read.values()) numbers += last;
  return numbers <= SMALL;
}

export function createLedgerFollower(options: FollowerOptions): LedgerFollower {
  const { store, state } = options;
  const hours = new Map(
    Object.entries(state.hours).map(([hour, progress]) => [hour, createHourPosition(hour, progress)]),
  );
  let { before } = state;
  let lookedAt = now();
  /** When whole hours were last sent, also partly unreadable ones. */
  let triedAt = Number.NEGATIVE_INFINITY;
  let position: number | null = startOfHour(before);
  const sending: HourSending = {
    ...options,
    onPosition(time) {
      position = time;
    },
  };

  /** The store's time: whether an hour is whole goes by it. */
  function now(): number {
    return options.clock() + store.clockOffset();
  }

  function follow(hour: string): HourPosition {
    const known = hours.get(hour) ?? createHourPosition(hour);
    hours.set(hour, known);
    return known;
  }

  /** Sends the hours that became whole, and those that were partly unreadable before. */
  async function sendWholeHours(): Promise<void> {
    const [firstOpen = hourAt(now())] = openHours(now());
    const due = new Set([...hours.keys()].filter((hour) => hour < firstOpen));
    const time = now();
    if (before >= firstOpen && (due.size === 0 || Math.abs(time - triedAt) < RELIST)) return;
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

  async function readOpenHour(hour: string): Promise<number> {
    const place = follow(hour);
    const time = now();
    if (place.listedAt === null || Math.abs(time - place.listedAt) >= RELIST || isSmall(place)) {
      const { sent } = await sendListed(sending, place);
      place.listedAt = time;
      return sent.length;
    }
    // A writer of the hour before begins the next one with its first number.
    const earlier = hours.get(hourAt(startOfHour(hour) - HOUR));
    const later = hours.get(hourAt(startOfHour(hour) + HOUR));
    let found = 0;
    for (const writer of new Set([...place.read.keys(), ...(earlier?.read.keys() ?? [])])) {
      // It never returns to an hour that it has left, once the next number of that was asked for since.
      if (place.finished.has(writer)) continue;
      const hasLeft = later?.read.has(writer) === true;
      found += await sendNext(sending, place, writer);
      if (hasLeft) place.finished.add(writer);
    }
    return found;
  }

  return {
    async look() {
      position ??= lookedAt;
      await sendWholeHours();
      let found = 0;
      for (const hour of openHours(now())) found += await readOpenHour(hour);
      lookedAt = options.clock();
      position = null;
      return found > 0;
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
