import type { FollowedHour } from '../../ledger/log/new-segments.js';
import type { LogPosition } from '../../ledger/read/log/log-position.js';

/** How far the log was read, as the state of a subscriber has it. */
export interface LogProgress {
  /** All lines written before were read, but for those in `again`. */
  readonly before: LogPosition;
  /** The last number of each writer, of the hours behind that are read by number. */
  readonly hours: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Whole hours that are read again, from these positions on, once nothing is damaged there. */
  readonly again: Readonly<Record<string, LogPosition>>;
}

interface HourNumbers extends FollowedHour {
  readonly read: Map<string, number>;
}

/** The same while it moves. */
export interface LogPlace {
  before: LogPosition;
  readonly hours: Map<string, HourNumbers>;
  readonly again: Map<string, LogPosition>;
}

export function placeAt({ before, hours, again }: LogProgress): LogPlace {
  const place: LogPlace = { before, hours: new Map(), again: new Map(Object.entries(again)) };
  for (const [hour, numbers] of Object.entries(hours))
    place.hours.set(hour, { hour, read: new Map(Object.entries(numbers)) });
  return place;
}

export function progressOf({ before, hours, again }: LogPlace): LogProgress {
  const numbers = [...hours.values()].map(({ hour, read }) => [hour, Object.fromEntries(read)]);
  return { before, hours: Object.fromEntries(numbers), again: Object.fromEntries(again) };
}

/** The numbers that were read of an hour; it is begun where it is new. */
export function numbersOf({ hours }: LogPlace, hour: string): HourNumbers {
  const known = hours.get(hour) ?? { hour, read: new Map() };
  hours.set(hour, known);
  return known;
}
