import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/*
 * Keeps resident memory to what deliveries need, by steering V8's collector. Left alone, it costs three times:
 * loading the program makes the young generation grow to its full size, 32 MB that are never given back; socket
 * buffers, which live outside the heap for a moment each, pile up to another 30 MB before V8 looks for them; and
 * those that had to wait grow old, which V8 looks for later still.
 */

type Collect = (options?: { readonly type: 'minor' }) => void;

/**
 * Half of the young generation in bytes. With 1 MB, V8's first size, a third of the CPU time of small callbacks
 * went into collecting; with 16 MB, its last, a tenth.
 */
const SEMI_SPACE = 4 * 1024 * 1024;

/** Bytes of uploads that may pass between two collections, about 1 ms each. */
const PASSED_AT_MOST = 4 * 1024 * 1024;

/** Bytes outside the heap beyond what is meant to stay: some are in use, the rest waits for a full collection. */
const OUTLIVED_AT_MOST = 28 * 1024 * 1024;

/** To be called before the bulk of the program is loaded. */
export function holdYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** To be called when the program is loaded: lets the young generation have its size, and no more. */
export function releaseYoungGeneration(): void {
  const collect = collector();
  for (let attempts = 3; attempts > 0 && semiSpace() < SEMI_SPACE; attempts--) {
    setFlagsFromString(`--semi-space-growth-factor=${Math.ceil(SEMI_SPACE / semiSpace())}`);
    // V8 lets it grow after a collection that more has survived than it holds.
    const survivors = Array.from({ length: semiSpace() / 16 }, (_, n) => ({ n }));
    collect({ type: 'minor' });
    survivors.length = 0;
  }
  holdYoungGeneration();
}

/**
 * Returns a function to be told of bytes of uploads that have passed: it collects when enough have. Chunks that
 * had to wait for memory have outlived two collections by then and are only found by a full one, which takes
 * about 25 ms and comes when they add up.
 *
 * @param held bytes of buffers outside the heap that are meant to stay
 */
export function collectAsBytesPass(held: () => number): (bytes: number) => void {
  const collect = collector();
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

function semiSpace(): number {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return (space?.space_size ?? SEMI_SPACE * 2) / 2;
}

/** V8's own collector, which Node keeps out of sight by default. */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  return typeof collect === 'function' ? (collect as Collect) : () => {};
}
