import { getHeapStatistics } from 'node:v8';

/*
 * Chunks of uploads are short-lived buffers outside V8's heap. V8 collects them late: they pile up to 30 MB. Chunks that
 * wait for memory move to the old generation, which V8 collects later still.
 */

/** Upload bytes between two minor collections, which take about 1 ms each. */
const MINOR_INTERVAL = 4 * 1024 * 1024;

/** Bytes outside the heap, retained buffers excluded, that start a full collection: part of them may be in use. */
const FULL_THRESHOLD = 28 * 1024 * 1024;

/**
 * Returns a function that takes the number of upload bytes processed, and collects garbage when they add up. Chunks that
 * waited for memory have survived two minor collections. Only a full collection frees them; it takes about 25 ms and
 * runs when their bytes exceed a threshold.
 *
 * Needs Node's `--expose-gc` (docs/performance.md, "Flags of Node"); without it nothing is collected early.
 *
 * @param retained bytes of buffers outside the heap that stay allocated
 */
export function collectAsBytesPass(retained: () => number): (bytes: number) => void {
  const collect = globalThis.gc;
  if (collect === undefined) return () => {};
  let passed = 0;
  let threshold = FULL_THRESHOLD;
  let collectedFully = false;
  return (bytes) => {
    passed += bytes;
    if (passed < MINOR_INTERVAL) return;
    passed = 0;
    collect({ type: 'minor' });
    const survived = getHeapStatistics().external_memory - retained();
    if (collectedFully) {
      // Bytes left after a full collection are in use; its sweep, which runs in the background, has ended by now.
      threshold = Math.max(FULL_THRESHOLD, survived + MINOR_INTERVAL);
      collectedFully = false;
    } else if (survived > threshold) {
      collect();
      collectedFully = true;
    }
  };
}
