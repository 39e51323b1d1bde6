import { RETENTION_CLASSES, type RetentionClass } from '../../domain/kinds.js';
import { sharedRead } from '../../lib/time/shared-read.js';
import type { ObjectStore } from '../../store/object-store.js';
import { readRetentionState } from './retention-state.js';

/** Milliseconds by kind; null keeps objects forever. */
export type RetentionPeriods = Readonly<Record<RetentionClass, number | null>>;

/**
 * The time before which a kind has ended, in milliseconds since the epoch; -Infinity when it never does. What was received before
 * it and is missing is not lost.
 */
export type ExpiredBefore = (kind: RetentionClass) => number;

export type RetentionView = ReturnType<typeof createRetentionView>;

/** No period is shorter than the hours after which this matters. */
const REMEMBERED = 60_000;

/**
 * What has expired: by the configured periods, and by what sweeps with other periods removed before. On a store whose own rules end objects
 * the periods alone say what has ended.
 *
 * @param shortest milliseconds: nothing younger has ended, whatever a sweep recorded whose clock was ahead. Recovery would otherwise not
 * look for what is missing.
 * @param clock milliseconds since the epoch
 */
export function createRetentionView(
  store: ObjectStore,
  periods: RetentionPeriods,
  shortest: number,
  clock = Date.now,
) {
  const sweptBefore = sharedRead(REMEMBERED, () => readSwept(store), clock);

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
