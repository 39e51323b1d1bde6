import { setTimeout as sleep } from 'node:timers/promises';

interface RepeatOptions {
  /** Milliseconds from the end of one run to the beginning of the next. */
  readonly interval: number;
  /** The first run begins at a random moment within this and the interval, in milliseconds. */
  readonly firstWithin: number;
  /** In [0, 1); keeps replicas that started together from running together. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/**
 * Repeats work that never throws, until `stop`, which aborts the signal of the current run and waits for its end. The pauses
 * do not keep the process alive.
 */
export function repeat(
  work: (signal: AbortSignal) => Promise<void>,
  { interval, firstWithin, random = Math.random }: RepeatOptions,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function loop(): Promise<void> {
    let wait = random() * Math.min(interval, firstWithin);
    for (;;) {
      await sleep(wait, null, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      await work(signal);
      wait = interval;
    }
  }

  const looping = loop();
  return {
    async stop() {
      stopping.abort();
      await looping;
    },
  };
}
