import { withDeadline } from '../../lib/time/deadline.js';
import { BlockedKeyError } from '../object-store.js';
import { diagnose } from '../store-condition.js';
import type { StoreCondition } from '../store-remedies.js';

/** A part of the store with permissions of its own, such as a prefix of a bucket policy or a folder. */
interface Place {
  readonly prefix: string;
  /** Throws when the place cannot be used. */
  prove(): Promise<unknown>;
}

export interface PlaceFailure<P extends Place> {
  readonly place: P;
  readonly reason: string;
  readonly condition: StoreCondition | null;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

interface PlaceProofsOptions<P extends Place> {
  readonly places: readonly P[];
  /** Milliseconds after which a place without writes is proven again. */
  readonly provenFor: number;
  /** Minimum pause before a check that a failed call makes due, in milliseconds. */
  readonly interval: number;
  /** Time-out of a proof in milliseconds. Default 10,000. */
  readonly timeout?: number;
  /** Called when the failures have changed. */
  readonly onChange?: (failures: readonly PlaceFailure<P>[]) => void;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

/**
 * Tracks which places of the store can be used. A failed call makes its place doubtful until it is proven. A write postpones the next
 * proof, but does not clear a failure: the place may still deny reads.
 */
interface PlaceProofs<P extends Place> {
  /** Call it after a call of the store. Returns true when a check is due because of it. */
  called(key: string, result: 'written' | 'failed'): boolean;
  /** Proves the places that are doubtful, failing, or not proven for too long. Never throws. Joins a check in flight. */
  check(): Promise<void>;
  failures(): readonly PlaceFailure<P>[];
  /** Whether a place was written to or proven after a time of `performance.now`. */
  provenSince(prefix: string, moment: number): boolean;
}

/** Failed proofs in a row before a failure is reported that may pass by itself, such as a time-out. */
const FAILURES_UNTIL_REPORTED = 2;

interface State<P extends Place> {
  readonly place: P;
  /** Milliseconds of a monotonic clock; null before the first proof. */
  provenAt: number | null;
  isDoubtful: boolean;
  failure: (PlaceFailure<P> & { readonly times: number; readonly isFinal: boolean }) | null;
}

export function createPlaceProofs<P extends Place>(options: PlaceProofsOptions<P>): PlaceProofs<P> {
  const { provenFor, interval, timeout = 10_000, clock = Date.now, onChange } = options;
  const ticks = options.clock ?? (() => performance.now());
  const states = options.places.map(
    (place): State<P> => ({ place, provenAt: null, isDoubtful: false, failure: null }),
  );
  let checking: Promise<void> | null = null;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let reported = '';

  function isDue({ provenAt, isDoubtful, failure }: State<P>): boolean {
    return isDoubtful || failure !== null || provenAt === null || ticks() - provenAt >= provenFor;
  }

  async function prove(state: State<P>): Promise<void> {
    const { place } = state;
    const before = state.failure;
    // A call that fails during the proof makes the place doubtful again.
    state.isDoubtful = false;
    try {
      await withDeadline(place.prove(), timeout, `${place.prefix} was not answered within ${timeout} ms`);
      state.provenAt = ticks();
      state.failure = null;
    } catch (error) {
      const { reason, condition, refused } = diagnose(error);
      const isFinal = error instanceof BlockedKeyError || refused;
      const times = (before?.times ?? 0) + 1;
      state.failure = { place, reason, condition, since: before?.since ?? clock(), times, isFinal };
    }
  }

  function failures(): PlaceFailure<P>[] {
    return states.flatMap(({ failure }) => {
      if (failure === null || (!failure.isFinal && failure.times < FAILURES_UNTIL_REPORTED)) return [];
      const { place, reason, condition, since } = failure;
      return [{ place, reason, condition, since }];
    });
  }

  function report(): void {
    const found = failures();
    const now = found.map(({ place, condition }) => `${place.prefix} ${condition}`).join();
    if (now !== reported) onChange?.(found);
    reported = now;
  }

  async function checkDue(): Promise<void> {
    checkedAt = ticks();
    await Promise.all(states.filter(isDue).map(prove));
    report();
  }

  function check(): Promise<void> {
    checking ??= checkDue().finally(() => {
      checking = null;
    });
    return checking;
  }

  return {
    called(key, result) {
      const state = states.find(({ place }) => key.startsWith(place.prefix));
      if (state === undefined) return false;
      if (result === 'written') state.provenAt = ticks();
      else state.isDoubtful = true;
      return state.isDoubtful && checking === null && ticks() - checkedAt >= interval;
    },
    check,
    failures,
    provenSince(prefix, moment) {
      const provenAt = states.find(({ place }) => place.prefix === prefix)?.provenAt ?? null;
      return provenAt !== null && provenAt > moment;
    },
  };
}
