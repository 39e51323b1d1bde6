import { HOUR } from '../hours.js';

/**
 * When what is missing is to be read again: after a pause at first, later after a tenth of the time that it has been missing, and at least
 * hourly.
 *
 * @param before when another process read it again last, in milliseconds since the epoch; default: none did
 */
export function createRetryPace(before: number | null = null) {
  let known: ReadonlySet<string> | null = null;
  let since = 0;
  let triedAt = 0;

  /**
   * @param missing whatever names it; more of it makes the pauses short again, less does not
   * @param now milliseconds since the epoch
   * @param first milliseconds of the first pause
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
