import { conditionOf } from '../store/store-condition.js';
import type { StoreCondition } from '../store/store-remedies.js';
import type { LedgerTail } from './ledger-tail.js';

export interface TailScheduleOptions {
  readonly tail: LedgerTail;
  readonly clock: () => number;
  readonly fastInterval: number;
  readonly slowInterval: number;
}

/** When to poll the store: often while the view is in use, rarely otherwise, because listings cost money. */
export interface TailSchedule {
  start(): void;
  stop(): Promise<void>;
  touch(): void;
  refresh(): Promise<void>;
  /** The tail has read more of the ledger. */
  progressed(): void;
  /** Settles at the next progress while the first load is under way; null otherwise. */
  moreLoaded(): Promise<void> | null;
  status(): TailStatus;
}

interface TailStatus {
  readonly state: 'loading' | 'ready';
  /** Milliseconds since the epoch. */
  readonly refreshedAt: number | null;
  readonly error: string | null;
  /** What the error says of the whole store; null where it does not say. */
  readonly condition: StoreCondition | null;
}

const MINUTE = 60_000;
/** Milliseconds without progress after which a poll counts as unanswered. The store's own time-outs are shorter, where it has some. */
const UNANSWERED_AFTER = MINUTE;
/** The view counts as in use for this long after a touch. */
const IN_USE = MINUTE;

const NO_FAILURE = { error: null, condition: null };

export function createTailSchedule(options: TailScheduleOptions): TailSchedule {
  const { tail, clock } = options;
  let loaded = false;
  let running = false;
  let touchedAt = Number.NEGATIVE_INFINITY;
  let polledAt = Number.NEGATIVE_INFINITY;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let refreshedAt: number | null = null;
  let failure: Pick<TailStatus, 'error' | 'condition'> = NO_FAILURE;
  let polling: Promise<void> | null = null;
  let progressedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | null = null;
  let listeners: (() => void)[] = [];

  const isInUse = () => clock() - touchedAt < IN_USE;

  function progressed(): void {
    progressedAt = clock();
    const woken = listeners;
    listeners = [];
    for (const wake of woken) wake();
  }

  async function readOnce(): Promise<void> {
    const sweepAfter = isInUse() ? 3 * MINUTE : 10 * MINUTE;
    const started = clock();
    if (!loaded) await tail.load();
    else if (started - sweptAt >= sweepAfter) await tail.sweep();
    else return tail.poll();
    loaded = true;
    sweptAt = started;
  }

  function poll(): Promise<void> {
    if (polling === null) progressedAt = clock();
    polling ??= readOnce()
      .then(
        () => {
          refreshedAt = clock();
          failure = NO_FAILURE;
        },
        (cause: unknown) => {
          failure = {
            error: cause instanceof Error ? cause.message : 'the store failed',
            condition: conditionOf(cause),
          };
          throw cause;
        },
      )
      .finally(() => {
        polling = null;
        polledAt = clock();
        progressed();
        schedule();
      });
    return polling;
  }

  function schedule(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    if (!running || polling) return;
    const interval = isInUse() || !loaded ? options.fastInterval : options.slowInterval;
    const wait = Math.min(interval, Math.max(0, polledAt + interval - clock()));
    // `status` reports a failure, and the next poll follows.
    timer = setTimeout(() => void poll().catch(() => undefined), wait).unref();
  }

  function unanswered(): Pick<TailStatus, 'error' | 'condition'> | null {
    const silent = clock() - progressedAt;
    if (polling === null || silent < UNANSWERED_AFTER) return null;
    const error = `the store has not answered for ${Math.round(silent / 1000)} s`;
    return { error, condition: 'unreachable' };
  }

  return {
    start() {
      if (running) return;
      running = true;
      void poll().catch(() => undefined);
    },
    async stop() {
      running = false;
      if (timer) clearTimeout(timer);
      await polling?.catch(() => undefined);
      progressed();
    },
    touch() {
      const wasInUse = isInUse();
      touchedAt = clock();
      if (!wasInUse) schedule();
    },
    async refresh() {
      // A poll in flight may have listed before the line that the caller expects was written.
      await polling?.catch(() => undefined);
      await poll();
    },
    progressed,
    moreLoaded() {
      if (loaded || polling === null) return null;
      return new Promise((resolve) => listeners.push(resolve));
    },
    status: () => ({ state: loaded ? 'ready' : 'loading', refreshedAt, ...(unanswered() ?? failure) }),
  };
}
