import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds of unused time that may be caught up with. */
const BURST = 1000;

/**
 * Keeps readers together below a rate: each waits after its bytes until they are due.
 *
 * @param bytesPerSecond null for no limit
 */
export function createReadingPace(
  bytesPerSecond: number | null,
  signal: AbortSignal | undefined,
): (bytes: number) => Promise<void> {
  if (bytesPerSecond === null) return async () => {};
  let due = performance.now();
  return async (bytes) => {
    const now = performance.now();
    due = Math.max(due, now - BURST) + (bytes / bytesPerSecond) * 1000;
    if (due > now) await sleep(due - now, undefined, signal === undefined ? {} : { signal });
  };
}
