import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';

/** Called between the steps of a long computation: `await pause()` yields to the event loop when a turn is due. */
export type Pause = () => Promise<void> | undefined;

/** Milliseconds of work before the event loop gets a turn; the step in progress is finished first. A delivery needs some ten turns. */
const MAX_WORK = 2;

/**
 * Keeps long computations from blocking the event loop: gives other callbacks a turn once the steps since the last turn
 * took `maxWork` milliseconds, and costs next to nothing before.
 */
export function cooperativeYield(maxWork = MAX_WORK): Pause {
  let began = performance.now();
  async function nextTurn(): Promise<void> {
    await immediate();
    began = performance.now();
  }
  return () => (performance.now() - began < maxWork ? undefined : nextTurn());
}

/** Milliseconds between two checks of a busy process. */
const BUSY_PAUSE = 100;

/**
 * Like `cooperativeYield` for work that can wait: takes a quarter of the time, and none of it while the process is busy.
 *
 * @param isBusy called after every `maxWork` milliseconds of work
 * @param signal ends the waiting
 */
export function backgroundYield(isBusy: () => boolean, signal: AbortSignal, maxWork = MAX_WORK): Pause {
  let began = performance.now();
  async function rest(worked: number): Promise<void> {
    let ms = 3 * worked;
    do {
      await sleep(ms, null, { signal, ref: false }).catch(() => undefined);
      ms = BUSY_PAUSE;
    } while (isBusy() && !signal.aborted);
    began = performance.now();
  }
  return () => {
    const worked = performance.now() - began;
    return worked < maxWork ? undefined : rest(worked);
  };
}
