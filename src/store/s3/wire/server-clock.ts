import { asFailure } from '../s3-failure.js';

/** S3 rejects requests signed more than 15 minutes away from its own time. */
const SKEWED = new Set(['RequestTimeTooSkewed', 'RequestExpired', 'RequestInTheFuture']);

/** Below this difference the clock is not the reason for the rejection. */
const WORTH_CORRECTING_MS = 60_000;

/** The time that requests are signed with: this machine's, until the server rejects it. */
export interface ServerClock {
  /** Runs an attempt, and another with the server's time when the first was rejected for its date. */
  withServerTime<T>(attempt: (now: Date) => Promise<T>): Promise<T>;
}

/** @param onNotice called with a message each time the clock is corrected; the correction stays */
export function createServerClock(onNotice?: (message: string) => void): ServerClock {
  let offset = 0;

  /** Whether another attempt would be signed with a different time. */
  function correct(error: unknown, used: number): boolean {
    const { code, serverTime } = asFailure(error);
    if (!SKEWED.has(code)) return false;
    if (offset !== used) return true;
    const found = serverTime === null ? used : serverTime - Date.now();
    if (Math.abs(found - used) < WORTH_CORRECTING_MS) return false;
    offset = found;
    const seconds = Math.round(Math.abs(found) / 1000);
    onNotice?.(
      `this machine's clock is ${seconds} s ${found < 0 ? 'ahead of' : 'behind'} the store's; ` +
        "requests are signed with the store's time from now on. Set the clock: ledger and credentials depend on it.",
    );
    return true;
  }

  return {
    async withServerTime(attempt) {
      const used = offset;
      try {
        return await attempt(new Date(Date.now() + used));
      } catch (error) {
        if (!correct(error, used)) throw error;
        return attempt(new Date(Date.now() + offset));
      }
    },
  };
}
