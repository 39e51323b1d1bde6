import { HOUR, hourAt, LISTED_AGAIN, startOfHour } from '../../ledger/hours.js';
import type { Gap } from '../../ledger/log/covered-numbers.js';
import { type HourPosition, hourPosition } from '../../ledger/log/hour-position.js';

/** The last number of each writer. */
type Numbers = Readonly<Record<string, number>>;

/** Numbers and gaps of passed hours that a state has: some hundred kilobytes. Without those of an hour it is not listed again. */
const MAX_NUMBERS = 5_000;

/** Position in the log, as the state of a subscriber has it. */
export interface LogProgress {
  /** The hours that began before were passed; in milliseconds since the epoch. */
  readonly before: number;
  /** The hours behind, up to these numbers. */
  readonly hours: Readonly<Record<string, Numbers>>;
  /** The hours that were passed last, up to these numbers: what appears there late is behind them. */
  readonly passed: Readonly<Record<string, Numbers>>;
  /** Numbers up to those, of hours of both kinds, that were missing or could not be read. */
  readonly missing: Readonly<Record<string, readonly Gap[]>>;
}

/** The same while it moves. */
export interface LogPlace {
  before: number;
  readonly hours: Map<string, HourPosition>;
  /** These two are replaced, never changed: many progresses have them. */
  passed: LogProgress['passed'];
  /** Of passed hours. */
  missing: LogProgress['missing'];
  /** Passed hours of which something is damaged, so that nobody knows what they lack. A sender that begins reads all passed hours again. */
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

/** What was read of an hour; null for one that was passed too long ago. */
export function positionIn({ hours, passed, missing }: LogPlace, hour: string): HourPosition | null {
  const numbers = passed[hour];
  return hours.get(hour) ?? (numbers === undefined ? null : hourPosition(hour, numbers, missing[hour]));
}

/** The hours that lack something. */
export function lackingHours({ hours, missing, unread }: LogPlace): Set<string> {
  const open = [...hours.values()].filter((each) => each.missing.length > 0);
  return new Set([...unread, ...Object.keys(missing), ...open.map(({ hour }) => hour)]);
}

/** Passes all hours before an instant. */
export function pass(place: LogPlace, time: number): void {
  for (let start = Math.max(place.before, time - LISTED_AGAIN); start < time; start += HOUR)
    keepPassed(place, place.hours.get(hourAt(start)) ?? hourPosition(hourAt(start)));
  place.before = time;
  forgetOldest(place, time - LISTED_AGAIN);
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
  for (const [hour, numbers] of read)
    if (startOfHour(hour) >= first) place.hours.set(hour, hourPosition(hour, numbers, place.missing[hour]));
  keepOnly(place, new Set(passed.map(([hour]) => hour).filter((hour) => startOfHour(hour) < first)));
}

/** Notes what was read of an hour that is passed. */
export function keepPassed(place: LogPlace, { hour, read, missing }: HourPosition): void {
  place.passed = { ...place.passed, [hour]: Object.fromEntries(read) };
  const { [hour]: _, ...others } = place.missing;
  place.missing = missing.length === 0 ? others : { ...others, [hour]: missing };
}

/**
 * Keeps the hours since an instant, and the last one before that has numbers, for a clock that is set back; as long as their numbers are
 * not too many.
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
