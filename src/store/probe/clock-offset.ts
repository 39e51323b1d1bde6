import { StoreError } from '../object-store.js';
import { clockDifference } from '../store-remedies.js';

/** Milliseconds. A line of a replica whose clock is further from the store's would be in an hour that is closed, or not open yet. */
const MAX_CLOCK_OFFSET = 5 * 60_000;

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
