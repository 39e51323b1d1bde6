import { HOUR } from '../hours.js';

/**
 * Decides when to read missing things again: after a first pause, later after a tenth of the time that they have been missing, and at least
 * hourly.
 *
 * @param before last retry by another process, in milliseconds since the epoch; default: none
 */
export function createRetryPace(before: number | null = null) {
  let known: ReadonlySet<string> | null = null;
  let since = 0;
  let triedAt = 0;

  /**
   * @param missing names of the missing things; a new one makes the pauses short again
   * @param now milliseconds since the epoch
   * @param first length of the first pause, in milliseconds
   */
  return function isDue(missing: readonly string[], now: number, first: number): boolean {
    if (known === null) triedAt = before ?? now;
    else if (known.size === 0) triedAt = now;
    if (missing.some((each) => !known?.has(each))) since = now;
    known = new Set(missing);
    const pause = Math.min(HOUR, Math.max(first, (now - since) / 10));
    if (missing.length === 0 || Math.abs(now - triedAt) < pause) return false;
    triedAt = now;
    return true;
  };
}
