import { readRollup } from '../ledger/compact/read-rollup.js';
import type { ObjectStore } from '../store/object-store.js';
import { createWorkQueue } from '../time/work-queue.js';
import type { RollupListing } from './rollup-listing.js';

/** Hours whose segments were deleted after they were compacted: the window cannot hold their lines. */
export interface RemovedSegments {
  /** Starts of the hours that have a rollup. Rejects with `StoreError`. */
  compactedHours(since: number, until: number): Promise<ReadonlySet<number>>;
  /** Whether a rollup of the hour covers, or may cover, a segment that is not among these keys. Rejects with `StoreError`. */
  isIncomplete(hour: number, keys: readonly string[]): Promise<boolean>;
}

export function createRemovedSegments(store: ObjectStore, listing: RollupListing): RemovedSegments {
  const decode = createWorkQueue();
  const keysOfHours = new Map<number, readonly string[]>();
  return {
    async compactedHours(since, until) {
      keysOfHours.clear();
      for (const { hours } of await listing.days(since, until, false)) {
        for (const [hour, keys] of hours) keysOfHours.set(hour, keys);
      }
      return new Set(keysOfHours.keys());
    },
    async isIncomplete(hour, keys) {
      const names = new Set(keys.map((key) => key.slice(key.lastIndexOf('/') + 1)));
      const keysOfHour = keysOfHours.get(hour) ?? [];
      const documents = await Promise.all(keysOfHour.map((key) => readRollup(store, key, decode)));
      // What a damaged rollup covers is not known.
      return documents.some(
        (document) => document === null || document.segments.some((name) => !names.has(name)),
      );
    },
  };
}
