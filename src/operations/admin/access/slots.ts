import { Problem } from '../../../domain/problem.js';

/** Work of operators that is done a few at a time; the rest waits in line. */
export interface Slots {
  /**
   * Resolves when a slot is free, and takes it.
   *
   * @param leaving ends the wait
   * @throws Problem `overloaded` when none becomes free in time, or when the signal aborts
   */
  enter(leaving: AbortSignal): Promise<void>;
  /** Gives the slot back. */
  exit(): void;
}

/**
 * @param slots asked whenever one enters or leaves
 * @param patience milliseconds that one waits; null is without end
 * @param refusal told to a client for which no slot became free in time
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

  return {
    async enter(leaving) {
      if (taken < slots()) taken += 1;
      else await wait(leaving);
    },
    exit() {
      taken -= 1;
      for (const next of waiting) if (taken < slots()) next();
    },
  };
}
