import { getHeapStatistics } from 'node:v8';

/*
 * Chunks of uploads are short-lived buffers outside V8's heap. V8 collects them late, so that they pile up to 30 MB. Chunks that
 * wait for memory move to the old generation, which V8 collects even later.
 */

/** Upload bytes between two minor collections, which take about 1 ms each. */
const MINOR_INTERVAL = 4 * 1024 * 1024;

/** Bytes outside the heap, without retained buffers, that start a full collection. Part of them may be in use. */
const FULL_THRESHOLD = 28 * 1024 * 1024;

/**
 * Returns a function that is called with the number of processed upload bytes, and collects garbage when enough have added up. Chunks
 * that waited for memory have survived two minor collections, so that only a full collection frees them. That takes about 25 ms, and
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
      // Bytes that survived the full collection are in use: its background sweep has ended by now.
      threshold = Math.max(FULL_THRESHOLD, survived + MINOR_INTERVAL);
      collectedFully = false;
    } else if (survived > threshold) {
      collect();
      collectedFully = true;
    }
  };
}
