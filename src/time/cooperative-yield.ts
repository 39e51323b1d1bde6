import { setImmediate as immediate } from 'node:timers/promises';

/**
 * Keeps long computations from blocking the event loop: `await pause()` between steps gives other callbacks a turn once
 * the steps since the last turn took `maxWork` milliseconds, and costs next to nothing before.
 */
export function cooperativeYield(maxWork = 5): () => Promise<void> | undefined {
  let began = performance.now();
  async function nextTurn(): Promise<void> {
    await immediate();
    began = performance.now();
  }
  return () => (performance.now() - began < maxWork ? undefined : nextTurn());
}
