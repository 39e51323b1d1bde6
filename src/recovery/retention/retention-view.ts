import { RETENTION_CLASSES, type RetentionClass } from '../../domain/kinds.js';
import { sharedRead } from '../../lib/time/shared-read.js';
import type { ObjectStore } from '../../store/object-store.js';
import { readRetentionState } from './retention-state.js';

/** Milliseconds by kind; null keeps objects forever. */
export type RetentionPeriods = Readonly<Record<RetentionClass, number | null>>;

/**
 * The time before which objects of a kind have expired, in milliseconds since the epoch; -Infinity when they never do. Objects received
 * before it are not lost when they are missing.
 */
export type ExpiredBefore = (kind: RetentionClass) => number;

export type RetentionView = ReturnType<typeof createRetentionView>;

/** Milliseconds that the state is cached; every retention period is far longer. */
const CACHE_TIME = 60_000;

/**
 * Tells which objects have expired: by the configured periods, and by the times that earlier sweeps with other periods recorded. On a
 * store with lifecycle rules of its own only the periods count.
 *
 * @param shortest milliseconds: nothing younger has expired, even if a sweep whose clock was ahead recorded so. Otherwise recovery would
 * not look for missing artefacts.
 * @param clock milliseconds since the epoch
 */
export function createRetentionView(
  store: ObjectStore,
  periods: RetentionPeriods,
  shortest: number,
  clock = Date.now,
) {
  const sweptBefore = sharedRead(CACHE_TIME, () => readSwept(store), clock);

  return {
    /** Rejects with `StoreError`. */
    async expiredBefore(): Promise<ExpiredBefore> {
      const now = clock();
      const swept = store.expire === undefined ? new Map<RetentionClass, number>() : await sweptBefore();
      return (kind) => {
        const byPeriod = now - (periods[kind] ?? Number.POSITIVE_INFINITY);
        return Math.min(now - shortest, Math.max(byPeriod, swept.get(kind) ?? Number.NEGATIVE_INFINITY));
      };
    },
  };
}

async function readSwept(store: ObjectStore): Promise<ReadonlyMap<RetentionClass, number>> {
  const { expiredBefore } = await readRetentionState(store);
  return new Map(
    RETENTION_CLASSES.flatMap((kind) => {
      const time = Date.parse(expiredBefore[kind] ?? '');
      return Number.isNaN(time) ? [] : [[kind, time] as const];
    }),
  );
}
