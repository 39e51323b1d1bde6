/** The last result of a reading that a scrape must not wait for: asking for it begins the next reading. */
interface ReadBehind<T> {
  watch(read: () => Promise<T>): void;
  /** Undefined until a reading has succeeded. */
  last(): T | undefined;
}

/** Milliseconds between the beginnings of two readings: each costs listings of the store. */
const EVERY = 300_000;
/** Milliseconds after one that failed. */
const AGAIN_AFTER = 1000;

/** @param clock in milliseconds */
export function createReadBehind<T>(clock: () => number): ReadBehind<T> {
  let read: (() => Promise<T>) | null = null;
  let askedAt = Number.NEGATIVE_INFINITY;
  let found: T | undefined;

  function refresh(): void {
    // A clock that was set back must not stop the readings for as long.
    if (read === null || Math.abs(clock() - askedAt) < EVERY) return;
    askedAt = clock();
    read().then(
      (result) => {
        found = result;
      },
      () => {
        askedAt = clock() - EVERY + AGAIN_AFTER;
      },
    );
  }

  return {
    watch(newRead) {
      read = newRead;
      askedAt = Number.NEGATIVE_INFINITY;
    },
    last() {
      refresh();
      return found;
    },
  };
}
