import { StoreError } from './object-store.js';

/**
 * Tells failures of single objects from an outage. Objects that cannot be read or written may lie side by side: they must not end a run
 * that has others to work on.
 *
 * @param most failures in a row after which the store is asked
 * @param ask throws `StoreError` when the store does not answer
 */
export function createOutageCheck(most: number, ask: () => Promise<unknown>) {
  let failures = 0;
  return {
    succeeded(): void {
      failures = 0;
    },
    /** Whether what comes next would fail as well. */
    async failed(): Promise<boolean> {
      failures += 1;
      if (failures < most) return false;
      // Those that fail meanwhile need not ask as well.
      failures = 0;
      try {
        await ask();
        return false;
      } catch (error) {
        if (error instanceof StoreError) return true;
        throw error;
      }
    },
  };
}
