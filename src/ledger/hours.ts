import { type ObjectStore, StoreError } from '../store/object-store.js';
import { clockDifference } from '../store/store-remedies.js';
import { LEDGER_FOLDER } from './ledger-keys.js';

export const HOUR = 3_600_000;

/**
 * Milliseconds after the end of an hour until no segment can appear in it: a write has a deadline of two minutes, a store rejects requests
 * signed more than fifteen minutes ago, and the rest is a margin for clocks.
 */
export const WHOLE_AFTER = 20 * 60_000;

/** Folder of an hour below the folders of the ledger, in UTC, e.g. `dt=2026-03-04/hour=05/`. @param instant ISO 8601 */
export function hourFolder(instant: string): string {
  return `dt=${instant.slice(0, 10)}/hour=${instant.slice(11, 13)}/`;
}

/** Folder of the ledger partition of an instant, in UTC. */
export function ledgerPartition(instant: string): string {
  return LEDGER_FOLDER + hourFolder(instant);
}

/** Folder of the hour of an instant in milliseconds since the epoch, e.g. `dt=2026-03-04/hour=05/`. */
export function hourAt(time: number): string {
  return hourFolder(new Date(time).toISOString());
}

/**
 * How far back whole hours are listed again once a day, in milliseconds, for segments that appeared late all the same. Only verify finds
 * one that appears even later.
 */
export const RELIST_WINDOW = 72 * HOUR;

const HOUR_FOLDER = /(?:^|\/)dt=(\d{4}-\d\d-\d\d)\/hour=(\d\d)\//;

/** Start of the hour that a folder, or the key of an object in it, names; milliseconds since the epoch, NaN for a foreign key. */
export function startOfHour(key: string): number {
  const [, day, hour] = HOUR_FOLDER.exec(key) ?? [];
  return Date.parse(`${day}T${hour}:00:00.000Z`);
}

/** Start of the first hour that is not whole. */
export function firstOpenHour(now: number): number {
  return Math.floor((now - WHOLE_AFTER) / HOUR) * HOUR;
}

/** Whether no segment can appear in the hour any more. One that does is a fault. */
export function isWhole(hour: string, now: number): boolean {
  return startOfHour(hour) < firstOpenHour(now);
}

/** Milliseconds. With a larger offset from the store's clock a replica would write to an hour that is whole already, or not open yet. */
export const MAX_CLOCK_OFFSET = 5 * 60_000;

/** The hours that are not whole, oldest first: at most two, the next one included, to which a replica whose clock is ahead may write. */
export function openHours(now: number): string[] {
  return [...new Set([firstOpenHour(now), now, now + MAX_CLOCK_OFFSET].map(hourAt))];
}

/** The clock of the store, which all processes share; milliseconds since the epoch. */
export function storeClock(store: Pick<ObjectStore, 'clockOffset'>, clock = Date.now): () => number {
  return () => clock() + store.clockOffset();
}

/**
 * What is wrong with this machine's clock, for people; null when it is right.
 *
 * @param offset of `ObjectStore.clockOffset`
 */
export function clockFault(offset: number): string | null {
  if (Math.abs(offset) <= MAX_CLOCK_OFFSET) return null;
  return `this machine's clock is ${clockDifference(offset)} the store's`;
}

/** Throws `StoreError` with the condition `clock` when the ledger must not be written with this clock. */
export function assertClock(offset: number): void {
  const fault = clockFault(offset);
  if (fault !== null) throw new StoreError('ledger', `${fault}: set it`, { condition: 'clock' });
}
