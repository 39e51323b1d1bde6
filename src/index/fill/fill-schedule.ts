import { conditionOf } from '../../store/store-condition.js';
import type { StoreCondition } from '../../store/store-remedies.js';
import { IndexError } from '../index-calls.js';
import type { IndexFiller } from './index-filler.js';

export interface FillScheduleOptions {
  readonly filler: Pick<IndexFiller, 'takeNew' | 'older'>;
  readonly clock: () => number;
}

/** When to ask the store for what is new: often while somebody looks, rarely otherwise, because requests cost money. */
export interface FillSchedule {
  start(): void;
  /** Ends the schedule; a read that is under way ends when the index is closed. */
  stop(): Promise<void>;
  /** Somebody looks: what is new is asked for at the fast interval for the next minute. */
  touch(): void;
  /** Whether somebody did within the last minute. */
  isLookedAt(): boolean;
  /** Takes what was written before the call. Rejects with `StoreError` and `IndexError`. */
  refresh(): Promise<void>;
  /** Settles when everything that the index is to have is in. Rejects as `refresh` does. */
  whole(): Promise<void>;
  status(): FillStatus;
}

interface FillStatus {
  /** When the last successful read of what is new began, in milliseconds since the epoch; null before the first. */
  readonly refreshedAt: number | null;
  /** Whether everything that the index is to have was in once. */
  readonly isWhole: boolean;
  /** Why the last read failed; null when it did not. */
  readonly error: string | null;
  /** What failed: a call of the store, or of the index, such as on a full disk; null when `error` is. */
  readonly fault: 'store' | 'index' | null;
  /** What `error` says of the whole store; null where it does not say. */
  readonly condition: StoreCondition | null;
}

const MINUTE = 60_000;
/** Milliseconds between reads of what is new while somebody looks, and otherwise. */
const FAST_INTERVAL = 2_000;
const SLOW_INTERVAL = 30_000;
/** Somebody looks for this long after a touch. */
const IN_USE = MINUTE;
/** Milliseconds beyond the interval after which a read is overdue. The store's own time-outs are shorter. */
const OVERDUE = MINUTE;

export function createFillSchedule(options: FillScheduleOptions): FillSchedule {
  const { filler, clock } = options;
  let running = false;
  let touchedAt = Number.NEGATIVE_INFINITY;
  let refreshedAt: number | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  let startedAt = Number.POSITIVE_INFINITY;
  let isWhole = false;
  let failure: unknown = null;
  let filling: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  /** Settles with the next read of what is new; null while nobody waits for one. */
  let asked: PromiseWithResolvers<void> | null = null;

  const isLookedAt = () => clock() - touchedAt < IN_USE;
  const interval = () => (isLookedAt() ? FAST_INTERVAL : SLOW_INTERVAL);

  async function readNew(): Promise<void> {
    readAt = clock();
    const answered = asked;
    asked = null;
    try {
      await filler.takeNew();
    } catch (cause) {
      answered?.reject(cause);
      throw cause;
    }
    refreshedAt = readAt;
    failure = null;
    answered?.resolve();
  }

  async function run(): Promise<void> {
    try {
      await readNew();
      for await (const _step of filler.older())
        if (asked !== null || clock() - readAt >= interval()) await readNew();
      isWhole = true;
    } catch (cause) {
      failure = cause;
      throw cause;
    } finally {
      filling = null;
      plan();
    }
  }

  function begin(): Promise<void> {
    filling ??= run();
    // `status` says why it failed.
    filling.catch(() => undefined);
    return filling;
  }

  function plan(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    if (filling !== null) return;
    if (asked !== null) void begin();
    else if (running)
      timer = setTimeout(
        () => void begin(),
        Math.min(interval(), Math.max(0, readAt + interval() - clock())),
      ).unref();
  }

  return {
    start() {
      if (running) return;
      running = true;
      startedAt = clock();
      void begin();
    },
    async stop() {
      running = false;
      if (timer) clearTimeout(timer);
      await filling?.catch(() => undefined);
    },
    isLookedAt,
    touch() {
      const wasInUse = isLookedAt();
      touchedAt = clock();
      if (!wasInUse) plan();
    },
    refresh() {
      asked ??= Promise.withResolvers();
      const { promise } = asked;
      plan();
      return promise;
    },
    whole: begin,
    status() {
      const silent = clock() - Math.max(refreshedAt ?? startedAt, startedAt);
      const isOverdue = running && failure === null && silent >= SLOW_INTERVAL + OVERDUE;
      return {
        refreshedAt,
        isWhole,
        error: isOverdue
          ? `it was not read for ${Math.round(silent / 1000)} s`
          : failure === null
            ? null
            : messageOf(failure),
        fault: isOverdue || failure !== null ? (failure instanceof IndexError ? 'index' : 'store') : null,
        condition: isOverdue ? (filling === null ? null : 'unreachable') : conditionOf(failure),
      };
    },
  };
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : 'it could not be read';
}
