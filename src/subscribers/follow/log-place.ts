import { HOUR, hourAt, LISTED_AGAIN, startOfHour } from '../../ledger/hours.js';
import type { FollowedHour } from '../../ledger/log/new-segments.js';

/** The last number of each writer. */
type Numbers = Readonly<Record<string, number>>;

/** Numbers of passed hours that a state has: some hundred kilobytes. Without those of an hour it is not listed again. */
const MAX_NUMBERS = 5_000;

/** Position in the log, as the state of a subscriber has it. */
export interface LogProgress {
  /** The hours that began before were read, but for those in `again`; in milliseconds since the epoch. */
  readonly before: number;
  /** The hours behind, up to these numbers. */
  readonly hours: Readonly<Record<string, Numbers>>;
  /** Whole hours that are read again, behind these numbers, once nothing is damaged there. */
  readonly again: Readonly<Record<string, Numbers>>;
  /** The hours that were read last, up to these numbers: what appears there late is behind them. */
  readonly passed: Readonly<Record<string, Numbers>>;
}

/** The same while it moves. */
export interface LogPlace {
  before: number;
  readonly hours: Map<string, FollowedHour>;
  readonly again: Map<string, FollowedHour>;
  /** Replaced, never changed: many progresses have it. */
  passed: LogProgress['passed'];
}

export function placeAt({ before, hours, again, passed }: LogProgress): LogPlace {
  return { before, hours: mapOf(hours), again: mapOf(again), passed };
}

export function progressOf({ before, hours, again, passed }: LogPlace): LogProgress {
  return { before, hours: numbersIn(hours), again: numbersIn(again), passed };
}

/** All hours before an instant were read, but for those in `again`. */
export function pass(place: LogPlace, time: number): void {
  const passed = { ...place.passed };
  for (let start = Math.max(place.before, time - LISTED_AGAIN); start < time; start += HOUR)
    passed[hourAt(start)] = numbersOfHour(place.hours.get(hourAt(start)));
  place.before = time;
  place.passed = newest(passed, time - LISTED_AGAIN);
  for (const hour of place.hours.keys()) if (startOfHour(hour) < time) place.hours.delete(hour);
}

/** An hour that was passed is read up to further numbers. */
export function passAgain(place: LogPlace, numbers: FollowedHour): void {
  const { hour } = numbers;
  if (Object.hasOwn(place.passed, hour)) place.passed = { ...place.passed, [hour]: numbersOfHour(numbers) };
}

/** The hours since an instant, as long as their numbers are not too many. */
function newest(passed: LogProgress['passed'], since: number): LogProgress['passed'] {
  const kept: [string, Numbers][] = [];
  let count = 0;
  for (const [hour, numbers] of Object.entries(passed).sort(([a], [b]) => (a < b ? 1 : -1))) {
    count += Object.keys(numbers).length;
    if (startOfHour(hour) < since || count > MAX_NUMBERS) break;
    kept.push([hour, numbers]);
  }
  return Object.fromEntries(kept);
}

/** What is behind the numbers is read later, unless it is already so from others. */
export function readLater({ again }: LogPlace, { hour, read }: FollowedHour): void {
  if (!again.has(hour)) again.set(hour, { hour, read: new Map(read) });
}

function mapOf(hours: Readonly<Record<string, Numbers>>): Map<string, FollowedHour> {
  return new Map(
    Object.entries(hours).map(([hour, numbers]) => [hour, { hour, read: new Map(Object.entries(numbers)) }]),
  );
}

function numbersIn(hours: ReadonlyMap<string, FollowedHour>): Record<string, Numbers> {
  return Object.fromEntries([...hours].map(([hour, numbers]) => [hour, numbersOfHour(numbers)]));
}

function numbersOfHour(numbers: FollowedHour | undefined): Numbers {
  return Object.fromEntries(numbers?.read ?? []);
}
