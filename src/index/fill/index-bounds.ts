import { firstOpenHour, HOUR } from '../../ledger/hours.js';
import type { IndexCalls } from '../index-calls.js';

export interface IndexBoundsOptions {
  readonly index: IndexCalls;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds that the index reaches back. */
  readonly reach: number;
  /** Bytes of the database and its write-ahead log that should not be exceeded. */
  readonly maxBytes: number;
  /** Deletes the hours before one, in steps. */
  readonly deleteBefore: (hour: number) => AsyncGenerator<void>;
}

/** Keeps the index within its bounds: what exceeds them goes at the old end. */
export interface IndexBounds {
  /** Whether an older hour may be taken. */
  hasRoom(): Promise<boolean>;
  trim(): AsyncGenerator<void>;
}

/** Shares of `maxBytes`: old hours are read up to the one and deleted above the other. */
const READ_BELOW = 0.8;
const DELETE_ABOVE = 0.9;
/** The share of the disk that stays free. */
const KEPT_FREE = 0.1;
const DAY = 24 * HOUR;

export function createIndexBounds(options: IndexBoundsOptions): IndexBounds {
  const { index, now, reach, maxBytes } = options;
  const deleteBefore = (time: number) => options.deleteBefore(Math.floor(time / HOUR) * HOUR);

  return {
    async hasRoom() {
      const limit = maxBytes * READ_BELOW;
      return (await index.call('usedBytes', limit)) < limit && (await index.call('freeShare')) > KEPT_FREE;
    },
    async *trim() {
      const end = now() - reach;
      const oldest = await index.call('oldestHour');
      // A day at a time: it takes a pass over all contexts.
      if (oldest !== null && oldest < end - DAY) yield* deleteBefore(end);
      const limit = maxBytes * DELETE_ABOVE;
      while ((await index.call('usedBytes', limit)) > limit) {
        const first = await index.call('oldestHour');
        if (first === null || first >= firstOpenHour(now())) break;
        yield* deleteBefore(first + Math.max(HOUR, (now() - first) / 10));
      }
    },
  };
}
