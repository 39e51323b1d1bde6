const MINUTE = 60_000;
/** Names whose attempts are counted at a time; beyond that the oldest entry is dropped. */
const MAX_NAMES = 1000;

/**
 * Counts attempts by name. Returns the number in the current minute, this one included.
 *
 * @param clock milliseconds since the epoch
 */
export function createAttemptCounter(clock: () => number): (name: string) => number {
  const attempts = new Map<string, { readonly since: number; count: number }>();
  return (name) => {
    const now = clock();
    const known = attempts.get(name);
    const entry = known && Math.abs(now - known.since) < MINUTE ? known : { since: now, count: 0 };
    entry.count += 1;
    attempts.set(name, entry);
    const [oldest] = attempts.keys();
    if (attempts.size > MAX_NAMES && oldest !== undefined) attempts.delete(oldest);
    return entry.count;
  };
}
