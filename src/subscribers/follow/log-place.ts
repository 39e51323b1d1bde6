import { HOUR, hourAt, LISTED_AGAIN, startOfHour } from '../../ledger/hours.js';
import type { FollowedHour } from '../../ledger/log/new-segments.js';

/** The last number of each writer. */
type Numbers = Readonly<Record<string, number>>;

/** Numbers of passed hours that a state has: some hundred kilobytes. Without those of an hour it is not listed again. */
const MAX_NUMBERS = 5_000;

/** Position in the log, as the state of a subscriber has it. */
export interface LogProgress {
  /** The hours that began before were passed; in milliseconds since the epoch. */
  readonly before: number;
  /** The hours behind, up to these numbers. */
  readonly hours: Readonly<Record<string, Numbers>>;
  /** The hours that were passed last, up to these numbers: what is damaged there, and what appears late, is behind them. */
  readonly passed: Readonly<Record<string, Numbers>>;
}

/** The same while it moves. */
export interface LogPlace {
  before: number;
  readonly hours: Map<string, FollowedHour>;
  /** Replaced, never changed: many progresses have it. */
  passed: LogProgress['passed'];
  /** Passed hours that could not be read wholly. A sender that begins reads all passed hours again. */
  readonly unread: Set<string>;
}

export function placeAt({ before, hours, passed }: LogProgress): LogPlace {
  const followed = Object.entries(hours).map(([hour, numbers]) => followedAt(hour, numbers));
  return { before, hours: new Map(followed.map((each) => [each.hour, each])), passed, unread: new Set() };
}

export function progressOf({ before, hours, passed }: LogPlace): LogProgress {
  const numbers = [...hours].map(([hour, each]) => [hour, numbersOfHour(each)]);
  return { before, hours: Object.fromEntries(numbers), passed };
}

/** Passes all hours before an instant. */
export function pass(place: LogPlace, time: number): void {
  const passed = { ...place.passed };
  for (let start = Math.max(place.before, time - LISTED_AGAIN); start < time; start += HOUR)
    passed[hourAt(start)] ??= numbersOfHour(place.hours.get(hourAt(start)));
  place.before = time;
  place.passed = newest(passed, time - LISTED_AGAIN);
  for (const hour of place.hours.keys()) if (startOfHour(hour) < time) place.hours.delete(hour);
}

/**
 * The clock was set back, perhaps while nobody followed: the last hour known from before, and those behind it, are read on.
 *
 * @param time start of the first open hour, in milliseconds since the epoch
 */
export function reopen(place: LogPlace, time: number): void {
  if (time >= place.before) return;
  const passed = Object.entries(place.passed);
  const read = passed.filter(([, numbers]) => Object.keys(numbers).length > 0);
  const starts = read.map(([hour]) => startOfHour(hour)).filter((start) => start <= time);
  const first = starts.length === 0 ? time : Math.max(...starts);
  place.before = first;
  place.passed = Object.fromEntries(passed.filter(([hour]) => startOfHour(hour) < first));
  for (const [hour, numbers] of read)
    if (startOfHour(hour) >= first) place.hours.set(hour, followedAt(hour, numbers));
}

/** An hour that was passed is read up to further numbers. */
export function passAgain(place: LogPlace, numbers: FollowedHour): void {
  const { hour } = numbers;
  if (Object.hasOwn(place.passed, hour)) place.passed = { ...place.passed, [hour]: numbersOfHour(numbers) };
}

/**
 * The hours since an instant, and the last one before that has numbers, for a clock that is set back; as long as their numbers are not too
 * many.
 */
function newest(passed: LogProgress['passed'], since: number): LogProgress['passed'] {
  const kept: [string, Numbers][] = [];
  let count = 0;
  for (const [hour, numbers] of Object.entries(passed).sort(([a], [b]) => (a < b ? 1 : -1))) {
    const size = Object.keys(numbers).length;
    const isOlder = startOfHour(hour) < since;
    count += size;
    if (count > MAX_NUMBERS) break;
    if (!isOlder || size > 0) kept.push([hour, numbers]);
    if (isOlder && size > 0) break;
  }
  return Object.fromEntries(kept);
}

/** What is behind the numbers is read later, unless what is behind earlier ones already is. */
export function readLater(place: LogPlace, numbers: FollowedHour): void {
  const { hour } = numbers;
  place.unread.add(hour);
  place.passed = { [hour]: numbersOfHour(numbers), ...place.passed };
}

export function followedAt(hour: string, numbers: Numbers): FollowedHour {
  return { hour, read: new Map(Object.entries(numbers)) };
}

function numbersOfHour(numbers: FollowedHour | undefined): Numbers {
  return Object.fromEntries(numbers?.read ?? []);
}
