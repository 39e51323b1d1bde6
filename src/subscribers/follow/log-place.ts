import type { FollowedHour } from '../../ledger/log/new-segments.js';

/** The last number of each writer. */
type Numbers = Readonly<Record<string, number>>;

/** How far the log was read, as the state of a subscriber has it. */
export interface LogProgress {
  /** The hours that began before were read, but for those in `again`; in milliseconds since the epoch. */
  readonly before: number;
  /** The hours behind, up to these numbers. */
  readonly hours: Readonly<Record<string, Numbers>>;
  /** Whole hours that are read again, behind these numbers, once nothing is damaged there. */
  readonly again: Readonly<Record<string, Numbers>>;
}

export interface HourNumbers extends FollowedHour {
  readonly read: Map<string, number>;
}

/** The same while it moves. */
export interface LogPlace {
  before: number;
  readonly hours: Map<string, HourNumbers>;
  readonly again: Map<string, HourNumbers>;
}

export function placeAt({ before, hours, again }: LogProgress): LogPlace {
  return { before, hours: mapOf(hours), again: mapOf(again) };
}

export function progressOf({ before, hours, again }: LogPlace): LogProgress {
  return { before, hours: numbersIn(hours), again: numbersIn(again) };
}

/** The numbers that were read of an hour; it is begun where it is new. */
export function numbersOf({ hours }: LogPlace, hour: string): HourNumbers {
  const known = hours.get(hour) ?? { hour, read: new Map() };
  hours.set(hour, known);
  return known;
}

/** What is behind the numbers is read later, unless it is already so from others. */
export function readLater({ again }: LogPlace, { hour, read }: HourNumbers): void {
  if (!again.has(hour)) again.set(hour, { hour, read: new Map(read) });
}

function mapOf(hours: Readonly<Record<string, Numbers>>): Map<string, HourNumbers> {
  return new Map(
    Object.entries(hours).map(([hour, numbers]) => [hour, { hour, read: new Map(Object.entries(numbers)) }]),
  );
}

function numbersIn(hours: ReadonlyMap<string, HourNumbers>): Record<string, Numbers> {
  return Object.fromEntries([...hours].map(([hour, { read }]) => [hour, Object.fromEntries(read)]));
}
