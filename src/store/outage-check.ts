import { StoreError } from './object-store.js';

/**
 * Distinguishes failures of single objects from an outage. Several objects in a row may be unreadable or unwritable; they must not end a
 * run that has others to process.
 *
 * @param maxFailures failures in a row after which the store is probed
 * @param probe throws `StoreError` when the store does not answer
 */
export function createOutageCheck(maxFailures: number, probe: () => Promise<unknown>) {
  let failures = 0;
  return {
    succeeded(): void {
      failures = 0;
    },
    /** Call it after a failure. Resolves to whether the store itself fails, so that further calls would fail as well. */
    async failed(): Promise<boolean> {
      failures += 1;
      if (failures < maxFailures) return false;
      // Concurrent failures need not probe as well.
      failures = 0;
      try {
        await probe();
        return false;
      } catch (error) {
        if (error instanceof StoreError) return true;
        throw error;
      }
    },
  };
}
