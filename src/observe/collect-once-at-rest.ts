import { performance } from 'node:perf_hooks';

/** Milliseconds that are looked at together. */
export const WINDOW = 10_000;

/** Share of the window that the event loop may work; an idle replica needs less than 0.01. */
export const AT_REST = 0.05;

/**
 * Collects all garbage once, after the first window in which the process did next to nothing. Loading the program makes V8's young
 * generation grow to its largest size. V8 shrinks it in full collections only, of which an idle process has none, so that some 15 MB
 * would stay resident. The young generation grows again under load. Callbacks wait for the collection: 0.05 s of CPU on Node 20, 0.25 s
 * on later releases.
 *
 * Needs Node's `--expose-gc` (docs/performance.md, "Flags of Node"); without it nothing is collected.
 *
 * @param utilization share of the time since its last call that the event loop worked, between 0 and 1
 */
export function collectOnceAtRest(utilization = sinceLastCall()): void {
  const collect = globalThis.gc;
  if (collect === undefined) return;
  const timer = setInterval(() => {
    if (utilization() > AT_REST) return;
    clearInterval(timer);
    // Node 20 collects fully only without options; Node 24 keeps the freed pages except in a collection of last resort.
    collect();
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, WINDOW);
  timer.unref();
}

function sinceLastCall(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
