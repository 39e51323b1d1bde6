import { OBJECT_KINDS, type ObjectKind } from '../../domain/object-kind.js';
import type { ObjectStore } from '../../store/object-store.js';
import { readRetentionState } from './retention-state.js';

/** Milliseconds by kind; null keeps objects for ever. */
export type RetentionPeriods = Readonly<Record<ObjectKind, number | null>>;

/**
 * The time before which a kind has ended, in milliseconds since the epoch; -Infinity when it never does. What was received before
 * it and is missing is not lost.
 */
export type EndedBefore = (kind: ObjectKind) => number;

/** What has ended by its age: by the configured periods, and by what sweeps with other periods removed before. */
export interface RetentionView {
  /** Rejects with `StoreError`. */
  endedBefore(): Promise<EndedBefore>;
}

/** No period is shorter than the hours after which this matters. */
const REMEMBERED = 60_000;

export interface RetentionViewOptions {
  readonly periods: RetentionPeriods;
  /**
   * Milliseconds: nothing younger has ended, whatever a sweep recorded whose clock was ahead. Recovery would otherwise not
   * look for what is missing.
   */
  readonly shortest: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

/** On a store whose own rules end objects the periods alone say what has ended. */
export function createRetentionView(
  store: ObjectStore,
  { periods, shortest, clock = Date.now }: RetentionViewOptions,
): RetentionView {
  let read: { readonly at: number; readonly swept: Promise<ReadonlyMap<ObjectKind, number>> } | null = null;

  function sweptBefore(now: number): Promise<ReadonlyMap<ObjectKind, number>> {
    if (read !== null && Math.abs(now - read.at) < REMEMBERED) return read.swept;
    const reading = { at: now, swept: readSwept(store) };
    read = reading;
    reading.swept.catch(() => {
      if (read === reading) read = null;
    });
    return reading.swept;
  }

  return {
    async endedBefore() {
      const now = clock();
      const swept = store.expiry === undefined ? new Map<ObjectKind, number>() : await sweptBefore(now);
      return (kind) => {
        const byPeriod = now - (periods[kind] ?? Number.POSITIVE_INFINITY);
        return Math.min(now - shortest, Math.max(byPeriod, swept.get(kind) ?? Number.NEGATIVE_INFINITY));
      };
    },
  };
}

async function readSwept(store: ObjectStore): Promise<ReadonlyMap<ObjectKind, number>> {
  const { endedBefore } = await readRetentionState(store);
  return new Map(
    OBJECT_KINDS.flatMap((kind) => {
      const time = Date.parse(endedBefore[kind] ?? '');
      return Number.isNaN(time) ? [] : [[kind, time] as const];
    }),
  );
}
