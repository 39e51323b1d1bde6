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
  /** Called before hours before an instant are deleted. */
  readonly onDelete: (hour: number) => Promise<void>;
}

/** Keeps the index within its bounds: what exceeds them goes at the old end. */
export interface IndexBounds {
  /** Whether an older hour may be taken. */
  hasRoom(): Promise<boolean>;
  /** @param pause awaited between the steps of a deletion */
  trim(pause: () => Promise<void>): Promise<void>;
}

/** Shares of `maxBytes`: old hours are read up to the one and deleted above the other. */
const READ_BELOW = 0.8;
const DELETE_ABOVE = 0.9;
/** The share of the disk that stays free. */
const KEPT_FREE = 0.1;
const DAY = 24 * HOUR;

export function createIndexBounds({
  index,
  now,
  reach,
  maxBytes,
  onDelete,
}: IndexBoundsOptions): IndexBounds {
  async function deleteBefore(time: number, pause: () => Promise<void>): Promise<void> {
    const hour = Math.floor(time / HOUR) * HOUR;
    await onDelete(hour);
    await index.call('deleteBefore', hour);
    while (await index.call('deleteSome')) await pause();
  }

  return {
    async hasRoom() {
      const limit = maxBytes * READ_BELOW;
      return (await index.call('usedBytes', limit)) < limit && (await index.call('freeShare')) > KEPT_FREE;
    },
    async trim(pause) {
      const end = now() - reach;
      const oldest = await index.call('oldestHour');
      // A day at a time: it takes a pass over all contexts.
      if (oldest !== null && oldest < end - DAY) await deleteBefore(end, pause);
      const limit = maxBytes * DELETE_ABOVE;
      while ((await index.call('usedBytes', limit)) > limit) {
        const first = await index.call('oldestHour');
        if (first === null || first >= firstOpenHour(now())) break;
        await deleteBefore(first + Math.max(HOUR, (now() - first) / 10), pause);
      }
    },
  };
}
