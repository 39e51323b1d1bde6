import { type ObjectStore, StoreError } from '../store/object-store.js';
import { clockDifference } from '../store/store-remedies.js';
import { LEDGER_FOLDER } from './ledger-keys.js';

export const HOUR = 3_600_000;

/**
 * Milliseconds from the end of an hour until nothing appears in it any more: a write has a deadline of two minutes, a store takes no
 * request that was signed more than fifteen minutes ago, and the rest is for clocks.
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
 * Milliseconds back to which whole hours are listed again, once a day, for segments that appeared late all the same. One that appears even
 * later is verify's to name.
 */
export const LISTED_AGAIN = 72 * HOUR;

const HOUR_FOLDER = /(?:^|\/)dt=(\d{4}-\d\d-\d\d)\/hour=(\d\d)\//;

/** When the hour began that a folder or the key of an object in it names, in milliseconds since the epoch; NaN for a foreign one. */
export function startOfHour(key: string): number {
  const [, day, hour] = HOUR_FOLDER.exec(key) ?? [];
  return Date.parse(`${day}T${hour}:00:00.000Z`);
}

/** When the first hour began that is not whole. */
export function firstOpenHour(now: number): number {
  return Math.floor((now - WHOLE_AFTER) / HOUR) * HOUR;
}

/** Whether nothing appears in the hour any more. What does all the same is a fault. */
export function isWhole(hour: string, now: number): boolean {
  return startOfHour(hour) < firstOpenHour(now);
}

/** Milliseconds. A line of a replica whose clock is further from the store's would be in an hour that is closed, or not open yet. */
export const MAX_CLOCK_OFFSET = 5 * 60_000;

/** The hours that are not whole: at most two, oldest first. A replica whose clock is ahead of the store's writes to the next one. */
export function openHours(now: number): string[] {
  return [...new Set([firstOpenHour(now), now, now + MAX_CLOCK_OFFSET].map(hourAt))];
}

/** A store's clock, in milliseconds since the epoch: the one that all processes share. */
export function storeClock(store: Pick<ObjectStore, 'clockOffset'>, clock = Date.now): () => number {
  return () => clock() + store.clockOffset();
}

/**
 * What is wrong with this machine's clock, for people; null when nothing is.
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
