import { conditionOf } from '../../../store/store-condition.js';
import type { StoreCondition } from '../../../store/store-remedies.js';
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
  /** Reads what is new. Before `start`, it loads the window first. Rejects with `StoreError`. */
  refresh(): Promise<void>;
  /** The tail has read more of the ledger. */
  progressed(): void;
  /** Whether the window is still being filled. */
  isLoading(): boolean;
  status(): TailStatus;
}

interface TailStatus {
  readonly state: 'loading' | 'ready';
  /** Milliseconds since the epoch. */
  readonly refreshedAt: number | null;
  readonly error: string | null;
  readonly condition: StoreCondition | null;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Milliseconds without progress after which a poll counts as unanswered. The store's own time-outs are shorter, where it has some. */
const UNANSWERED_AFTER = MINUTE;
/** The view counts as in use for this long after a touch. */
const IN_USE = MINUTE;

const NO_FAILURE = { error: null, condition: null };

export function createTailSchedule(options: TailScheduleOptions): TailSchedule {
  const { tail, clock } = options;
  let running = false;
  let touchedAt = Number.NEGATIVE_INFINITY;
  let polledAt = Number.NEGATIVE_INFINITY;
  let refreshedAt: number | null = null;
  let failure: Pick<TailStatus, 'error' | 'condition'> = NO_FAILURE;
  let loading: Promise<void> | null = null;
  let polling: Promise<void> | null = null;
  let progressedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | null = null;

  const isInUse = () => clock() - touchedAt < IN_USE;
  const isReady = () => tail.isLoaded() || tail.completeSince() <= clock() - HOUR;

  function progressed(): void {
    progressedAt = clock();
  }

  function failed(cause: unknown): never {
    failure = {
      error: cause instanceof Error ? cause.message : 'the store failed',
      condition: conditionOf(cause),
    };
    throw cause;
  }

  function load(): Promise<void> {
    loading ??= tail
      .load()
      .catch(failed)
      .finally(() => {
        loading = null;
        progressed();
      });
    return loading;
  }

  /** Resolves to when it began: what was written since may be unread. */
  async function read(): Promise<number> {
    const time = clock();
    const loads = load();
    if (running) loads.catch(() => undefined);
    else await loads;
    await tail.poll();
    return time;
  }

  function poll(): Promise<void> {
    if (polling === null) progressed();
    polling ??= read()
      .then((time) => {
        refreshedAt = time;
        failure = NO_FAILURE;
      }, failed)
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
    const interval = isInUse() || !tail.isLoaded() ? options.fastInterval : options.slowInterval;
    const wait = Math.min(interval, Math.max(0, polledAt + interval - clock()));
    // `status` reports a failure, and the next poll follows.
    timer = setTimeout(() => void poll().catch(() => undefined), wait).unref();
  }

  function unanswered(): Pick<TailStatus, 'error' | 'condition'> | null {
    const silent = clock() - progressedAt;
    if (polling !== null && silent >= UNANSWERED_AFTER)
      return { error: `the store has not answered for ${seconds(silent)}`, condition: 'unreachable' };
    // The process slept: its next poll is due.
    if (running && silent >= options.slowInterval + UNANSWERED_AFTER)
      return { error: `it was not read for ${seconds(silent)}`, condition: null };
    return null;
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
      tail.stop();
      await Promise.allSettled([polling, loading]);
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
    isLoading: () => !tail.isLoaded(),
    status: () => ({ state: isReady() ? 'ready' : 'loading', refreshedAt, ...(unanswered() ?? failure) }),
  };
}

const seconds = (milliseconds: number) => `${Math.round(milliseconds / 1000)} s`;
