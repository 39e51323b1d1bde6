import { getHeapStatistics } from 'node:v8';

/*
 * Chunks of uploads live outside V8's heap for a moment each. V8 looks for them late: left alone, they pile up to 30 MB,
 * and those that had to wait for memory grow old, which V8 looks for later still.
 */

/** Bytes of uploads that may pass between two collections, about 1 ms each. */
const PASSED_AT_MOST = 4 * 1024 * 1024;

/** Bytes outside the heap beyond what is meant to stay: some are in use, the rest waits for a full collection. */
const OUTLIVED_AT_MOST = 28 * 1024 * 1024;

/**
 * Returns a function to be called with the bytes of uploads that have passed: it collects when enough have. Chunks that
 * had to wait for memory have outlived two collections by then and are only found by a full one, which takes
 * about 25 ms and comes when they add up.
 *
 * Needs Node's `--expose-gc` (docs/performance.md, "Flags of Node"); without it nothing is collected early.
 *
 * @param held bytes of buffers outside the heap that are meant to stay
 */
export function collectAsBytesPass(held: () => number): (bytes: number) => void {
  const collect = globalThis.gc;
  if (collect === undefined) return () => {};
  let passed = 0;
  let tolerated = OUTLIVED_AT_MOST;
  let collectedFully = false;
  return (bytes) => {
    passed += bytes;
    if (passed < PASSED_AT_MOST) return;
    passed = 0;
    collect({ type: 'minor' });
    const outlived = getHeapStatistics().external_memory - held();
    if (collectedFully) {
      // What a full collection left, as its sweeping in the background has shown by now, is in use.
      tolerated = Math.max(OUTLIVED_AT_MOST, outlived + PASSED_AT_MOST);
      collectedFully = false;
    } else if (outlived > tolerated) {
      collect();
      collectedFully = true;
    }
  };
}
