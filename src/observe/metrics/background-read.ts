/** A value that is read in the background, so that no scrape waits for it. Each access starts the next read when it is due. */
interface BackgroundRead<T> {
  watch(read: () => Promise<T>): void;
  /** The last result; undefined until a read has succeeded. */
  last(): T | undefined;
}

/** Milliseconds between the starts of two reads, each of which lists the store. */
const INTERVAL = 300_000;
/** Milliseconds between a failed read and the next. */
const RETRY_AFTER = 1000;

/** @param clock in milliseconds */
export function createBackgroundRead<T>(clock: () => number): BackgroundRead<T> {
  let read: (() => Promise<T>) | null = null;
  let startedAt = Number.NEGATIVE_INFINITY;
  let found: T | undefined;

  function refresh(): void {
    // `abs`, so that a clock that was set back does not stop the reads for that long.
    if (read === null || Math.abs(clock() - startedAt) < INTERVAL) return;
    startedAt = clock();
    read().then(
      (result) => {
        found = result;
      },
      () => {
        startedAt = clock() - INTERVAL + RETRY_AFTER;
      },
    );
  }

  return {
    watch(newRead) {
      read = newRead;
      startedAt = Number.NEGATIVE_INFINITY;
    },
    last() {
      refresh();
      return found;
    },
  };
}
