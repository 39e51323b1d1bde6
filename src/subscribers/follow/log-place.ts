import { HOUR, hourAt, RELIST_WINDOW, startOfHour } from '../../ledger/hours.js';
import type { Gap } from '../../ledger/log/covered-numbers.js';
import { followHour } from '../../ledger/log/follow-log.js';
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
  /** Positions in the hours passed last, and in those after the watermark. */
  readonly hours: Map<string, HourPosition>;
  /** Passed hours with damaged objects, whose gaps are unknown. Not saved: a sender that starts checks all passed hours. */
  readonly unread: Set<string>;
}

export function placeAt({ before, hours, passed, missing }: LogProgress): LogPlace {
  const all = Object.entries({ ...passed, ...hours });
  const positions = all.map(([hour, numbers]) => [hour, hourPosition(hour, numbers, missing[hour])] as const);
  return { before, hours: new Map(positions), unread: new Set() };
}

export function progressOf({ before, hours }: LogPlace): LogProgress {
  const watermark = hourAt(before);
  const open: Record<string, Numbers> = {};
  const passed: Record<string, Numbers> = {};
  const gaps: Record<string, readonly Gap[]> = {};
  for (const [hour, { read, missing }] of hours) {
    if (hour < watermark) passed[hour] = toNumbers(read);
    else open[hour] = toNumbers(read);
    if (missing.length > 0) gaps[hour] = missing;
  }
  return { before, hours: open, passed, missing: gaps };
}

/** One object for each map: every segment takes the progress, and the hours have thousands of numbers. */
const converted = new WeakMap<HourPosition['read'], Numbers>();

function toNumbers(read: HourPosition['read']): Numbers {
  const known = converted.get(read);
  if (known !== undefined) return known;
  const numbers = Object.fromEntries(read);
  converted.set(read, numbers);
  return numbers;
}

/** Hours with gaps or damage. */
export function lackingHours({ hours, unread }: LogPlace): Set<string> {
  const lacking = [...hours.values()].filter(({ missing }) => missing.length > 0);
  return new Set([...unread, ...lacking.map(({ hour }) => hour)]);
}

/** Passes all hours before an instant. */
export function pass(place: LogPlace, time: number): void {
  const since = time - RELIST_WINDOW;
  for (let start = Math.max(place.before, since); start < time; start += HOUR)
    followHour(place.hours, hourAt(start));
  place.before = time;
  forgetOldest(place, since);
}

/**
 * Moves the watermark back after the clock was set back: reading continues with the last known hour before `time` and those after it.
 *
 * @param time start of the first open hour, in milliseconds since the epoch
 */
export function reopen(place: LogPlace, time: number): void {
  if (time >= place.before) return;
  const read = [...place.hours.values()].filter((each) => each.read.size > 0);
  const starts = read.map(({ hour }) => startOfHour(hour)).filter((start) => start <= time);
  place.before = starts.length === 0 ? time : Math.max(...starts);
  // Those without numbers may be in the future, where each is listed all the time.
  for (const [hour, each] of place.hours)
    if (each.read.size === 0 && startOfHour(hour) >= place.before) place.hours.delete(hour);
}

/**
 * Keeps the passed hours since an instant, and the last one before it that has numbers, in case the clock is set back; at most
 * `MAX_NUMBERS`.
 */
function forgetOldest({ before, hours }: LogPlace, since: number): void {
  const passed = [...hours.values()].filter(({ hour }) => startOfHour(hour) < before);
  let count = 0;
  let isFull = false;
  for (const { hour, read, missing } of passed.sort((a, b) => (a.hour < b.hour ? 1 : -1))) {
    const isOlder = startOfHour(hour) < since;
    count += read.size + missing.length;
    isFull ||= count > MAX_NUMBERS;
    if (isFull || (isOlder && read.size === 0)) hours.delete(hour);
    else isFull = isOlder;
  }
}
