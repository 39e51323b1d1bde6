import { setTimeout as sleep } from 'node:timers/promises';

export interface Look<T> {
  readonly left: readonly T[];
  /** What becomes less while there is progress. */
  readonly amount: number;
}

/** Looks in a row that see no progress before the wait ends. */
const IN_VAIN = 60;

/**
 * Waits until nothing is left, for as long as there is progress: a busy machine takes its time, and what does not become
 * less for a while stays. Resolves to what is left.
 */
export async function waitForLess<T>(look: () => Promise<Look<T>>, pauseMs: number): Promise<readonly T[]> {
  let least = Number.POSITIVE_INFINITY;
  for (let inVain = 0; ; inVain += 1) {
    const { left, amount } = await look();
    if (left.length === 0 || inVain >= IN_VAIN) return left;
    if (amount < least) inVain = 0;
    least = Math.min(least, amount);
    await sleep(pauseMs);
  }
}
