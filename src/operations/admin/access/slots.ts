import { Problem } from '../../../domain/problem.js';

/**
 * Runs work of operators with limited concurrency, in order. Unlike `p-limit` it drops work that gave up waiting, which would pile up
 * behind a store that hangs.
 *
 * @param leaving aborts the wait for a slot
 * @throws Problem `overloaded` when no slot becomes free in time, or when the signal aborts before
 */
export type Slots = <T>(leaving: AbortSignal, work: () => Promise<T>) => Promise<T>;

/**
 * @param slots number of slots, evaluated whenever work arrives or ends
 * @param patience milliseconds that work waits; null: no limit
 * @param refusal detail of the problem when no slot became free in time
 */
export function createSlots(slots: () => number, patience: number | null, refusal: string): Slots {
  const waiting = new Set<() => void>();
  let taken = 0;

  function wait(leaving: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        waiting.delete(admit);
        leaving.removeEventListener('abort', refuse);
      };
      const admit = (): void => {
        leave();
        taken += 1;
        resolve();
      };
      const refuse = (): void => {
        leave();
        reject(new Problem('overloaded', refusal));
      };
      const timer = patience === null ? undefined : setTimeout(refuse, patience);
      leaving.addEventListener('abort', refuse, { once: true });
      waiting.add(admit);
      if (leaving.aborted) refuse();
    });
  }

  return async (leaving, work) => {
    if (taken < slots()) taken += 1;
    else await wait(leaving);
    try {
      return await work();
    } finally {
      taken -= 1;
      for (const next of waiting) if (taken < slots()) next();
    }
  };
}
