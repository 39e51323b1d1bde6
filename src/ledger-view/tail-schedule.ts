import type { LedgerTail } from './ledger-tail.js';

export interface TailScheduleOptions {
  readonly tail: LedgerTail;
  readonly clock: () => number;
  readonly fastInterval: number;
  readonly slowInterval: number;
}

/** When to look at the store: closely while somebody looks, seldom otherwise, because listings cost money. */
export interface TailSchedule {
  start(): void;
  stop(): Promise<void>;
  touch(): void;
  refresh(): Promise<void>;
  /** The tail learned something. */
  progressed(): void;
  /** Settles at the next progress while the first load is under way; null otherwise. */
  moreLoaded(): Promise<void> | null;
  status(): { state: 'loading' | 'ready'; refreshedAt: number | null; error: string | null };
}

const MINUTE = 60_000;
/** A touch counts as somebody looking for this long. */
const ATTENTION = MINUTE;

export function createTailSchedule(options: TailScheduleOptions): TailSchedule {
  const { tail, clock } = options;
  let loaded = false;
  let running = false;
  let touchedAt = Number.NEGATIVE_INFINITY;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let refreshedAt: number | null = null;
  let error: string | null = null;
  let looking: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let listeners: (() => void)[] = [];

  const isWatched = () => clock() - touchedAt < ATTENTION;

  function progressed(): void {
    const woken = listeners;
    listeners = [];
    for (const wake of woken) wake();
  }

  async function lookOnce(): Promise<void> {
    const sweepAfter = isWatched() ? 3 * MINUTE : 10 * MINUTE;
    const started = clock();
    if (!loaded) await tail.load();
    else if (started - sweptAt >= sweepAfter) await tail.sweep();
    else return tail.poll();
    loaded = true;
    sweptAt = started;
  }

  function look(): Promise<void> {
    looking ??= lookOnce()
      .then(
        () => {
          refreshedAt = clock();
          error = null;
        },
        (cause: unknown) => {
          error = cause instanceof Error ? cause.message : 'the store failed';
          throw cause;
        },
      )
      .finally(() => {
        looking = null;
        lookedAt = clock();
        progressed();
        schedule();
      });
    return looking;
  }

  function schedule(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    if (!running || looking) return;
    const interval = isWatched() || !loaded ? options.fastInterval : options.slowInterval;
    const wait = Math.min(interval, Math.max(0, lookedAt + interval - clock()));
    // A failure is told by `status`, and the next look follows.
    timer = setTimeout(() => void look().catch(() => undefined), wait).unref();
  }

  return {
    start() {
      if (running) return;
      running = true;
      void look().catch(() => undefined);
    },
    async stop() {
      running = false;
      if (timer) clearTimeout(timer);
      await looking?.catch(() => undefined);
      progressed();
    },
    touch() {
      const wasWatched = isWatched();
      touchedAt = clock();
      if (!wasWatched) schedule();
    },
    async refresh() {
      // A look that is under way may have listed before what the caller wants to see.
      await looking?.catch(() => undefined);
      await look();
    },
    progressed,
    moreLoaded() {
      if (loaded || looking === null) return null;
      return new Promise((resolve) => listeners.push(resolve));
    },
    status: () => ({ state: loaded ? 'ready' : 'loading', refreshedAt, error }),
  };
}
