import { HOUR, hourAt, RELIST_WINDOW, startOfHour } from '../../ledger/hours.js';
import type { Gap } from '../../ledger/log/covered-numbers.js';
import { type HourPosition, hourPosition } from '../../ledger/log/hour-position.js';

/** The last number of each writer. */
type Numbers = Readonly<Record<string, number>>;

/** Bounds numbers and gaps of passed hours in a state to some hundred kilobytes. An hour without numbers is not checked again. */
const MAX_NUMBERS = 5_000;

/** Position in the log, as saved in the state of a subscriber. */
export interface LogProgress {
  /** Watermark in milliseconds since the epoch: hours that began earlier were passed, which means read to their end. */
  readonly before: number;
  /** Last number read of each writer, in hours after the watermark. */
  readonly hours: Readonly<Record<string, Numbers>>;
  /** Last number read of each writer, in the hours passed last: segments that appear late have higher numbers. */
  readonly passed: Readonly<Record<string, Numbers>>;
  /** Gaps below these numbers, in both kinds of hours: segments that were missing or unreadable. */
  readonly missing: Readonly<Record<string, readonly Gap[]>>;
}
/** Mutable form of `LogProgress`. */
export interface LogPlace {
  before: number;
  readonly hours: Map<string, HourPosition>;
  /** This and `missing` are replaced, never mutated: snapshots share them. */
  passed: LogProgress['passed'];
  /** Gaps of passed hours only. */
  missing: LogProgress['missing'];
  /** Passed hours with damaged objects, whose gaps are unknown. Not saved: a sender that starts checks all passed hours. */
  readonly unread: Set<string>;
}

export function placeAt({ before, hours, passed, missing }: LogProgress): LogPlace {
  const place: LogPlace = { before, hours: new Map(), passed, missing: {}, unread: new Set() };
  for (const [hour, numbers] of Object.entries(hours))
    place.hours.set(hour, hourPosition(hour, numbers, missing[hour]));
  place.missing = Object.fromEntries(Object.entries(missing).filter(([hour]) => Object.hasOwn(passed, hour)));
  return place;
}

export function progressOf({ before, hours, passed, missing }: LogPlace): LogProgress {
  const numbers = [...hours].map(([hour, each]) => [hour, Object.fromEntries(each.read)]);
  const gaps = [...hours].flatMap(([hour, each]) => (each.missing.length > 0 ? [[hour, each.missing]] : []));
  return {
    before,
    hours: Object.fromEntries(numbers),
    passed,
    missing: { ...missing, ...Object.fromEntries(gaps) },
  };
}

/** Position in an hour; null for one that was passed too long ago. */
export function positionIn({ hours, passed, missing }: LogPlace, hour: string): HourPosition | null {
  const numbers = passed[hour];
  return hours.get(hour) ?? (numbers === undefined ? null : hourPosition(hour, numbers, missing[hour]));
}

/** Hours with gaps or damage. */
export function lackingHours({ hours, missing, unread }: LogPlace): Set<string> {
  const open = [...hours.values()].filter((each) => each.missing.length > 0);
  return new Set([...unread, ...Object.keys(missing), ...open.map(({ hour }) => hour)]);
}

/** Passes all hours before an instant. */
export function pass(place: LogPlace, time: number): void {
  for (let start = Math.max(place.before, time - RELIST_WINDOW); start < time; start += HOUR)
    keepPassed(place, place.hours.get(hourAt(start)) ?? hourPosition(hourAt(start)));
  place.before = time;
  forgetOldest(place, time - RELIST_WINDOW);
  for (const hour of place.hours.keys()) if (startOfHour(hour) < time) place.hours.delete(hour);
}

/**
 * Moves the watermark back after the clock was set back: reading continues with the last known hour before `time` and those after it.
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
  for (const [hour, numbers] of read)
    if (startOfHour(hour) >= first) place.hours.set(hour, hourPosition(hour, numbers, place.missing[hour]));
  keepOnly(place, new Set(passed.map(([hour]) => hour).filter((hour) => startOfHour(hour) < first)));
}

/** Saves the position in a passed hour. */
export function keepPassed(place: LogPlace, { hour, read, missing }: HourPosition): void {
  place.passed = { ...place.passed, [hour]: Object.fromEntries(read) };
  const { [hour]: _, ...others } = place.missing;
  place.missing = missing.length === 0 ? others : { ...others, [hour]: missing };
}

/**
 * Keeps the passed hours since an instant, and the last one before it that has numbers, in case the clock is set back; at most
 * `MAX_NUMBERS`.
 */
function forgetOldest(place: LogPlace, since: number): void {
  const kept = new Set<string>();
  let count = 0;
  for (const [hour, numbers] of Object.entries(place.passed).sort(([a], [b]) => (a < b ? 1 : -1))) {
    const size = Object.keys(numbers).length;
    const isOlder = startOfHour(hour) < since;
    count += size + (place.missing[hour]?.length ?? 0);
    if (count > MAX_NUMBERS) break;
    if (!isOlder || size > 0) kept.add(hour);
    if (isOlder && size > 0) break;
  }
  keepOnly(place, kept);
}

function keepOnly(place: LogPlace, kept: ReadonlySet<string>): void {
  const isKept = ([hour]: readonly [string, unknown]) => kept.has(hour);
  place.passed = Object.fromEntries(Object.entries(place.passed).filter(isKept));
  place.missing = Object.fromEntries(Object.entries(place.missing).filter(isKept));
}
