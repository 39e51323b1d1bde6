import type { SourceScope } from '../../domain/rights.js';
import type { ObjectStore } from '../../store/object-store.js';
import { type CallbackFigures, callbackFigures } from './figures/callback-figures.js';
import { createDroppedRows } from './figures/dropped-rows.js';
import { type LedgerSummary, summarise } from './figures/ledger-summary.js';
import { createRollupListing } from './figures/rollup-listing.js';
import { createRollupReader } from './figures/rollup-reader.js';
import { type SummaryQuery, summaryRange } from './figures/summary-query.js';
import { createCompactedHours } from './log/compacted-hours.js';
import { DAY } from './time-ranges.js';
import { createUnreadLines } from './unread-lines.js';
import { createLedgerTail } from './window/ledger-tail.js';
import { createRowWindow } from './window/row-window.js';
import { createTailSchedule } from './window/tail-schedule.js';

export interface FigureWindowOptions {
  readonly store: ObjectStore;
  /** How far back lines are held in memory, in milliseconds. Default 7 days. */
  readonly windowMs?: number;
  /** Bytes of all lines in memory. Default 48 MiB. */
  readonly maxBytes?: number;
  /** Milliseconds between polls of the store while the view is in use, and otherwise. Defaults 3,000 and 60,000. */
  readonly fastInterval?: number;
  readonly slowInterval?: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

/** Figures of the ledger of all replicas, kept in memory. */
export interface FigureWindow {
  /** Begins to load the ledger and to follow it. */
  start(): void;
  /** Stops following; settles when no read of the store is in flight. */
  stop(): Promise<void>;
  /** Marks the window as in use: it polls at the fast interval for the next minute. */
  touch(): void;
  /** Polls the store now. Rejects with `StoreError` when that fails. */
  refresh(): Promise<void>;
  /** Over the lines in memory and the rollups; names what they do not cover. Rejects with `Problem` `request-invalid` for bad instants. */
  summary(query?: SummaryQuery): Promise<LedgerSummary>;
  /** How the callbacks of the last hour and day fared, over the lines in memory. */
  callbacks(scope?: SourceScope): Promise<CallbackFigures>;
}

export function createFigureWindow(options: FigureWindowOptions): FigureWindow {
  const { store, clock = Date.now, windowMs = 7 * DAY } = options;
  const maxBytes = options.maxBytes ?? 48 * 1024 * 1024;
  const unread = createUnreadLines();
  const dropped = createDroppedRows();
  const window = createRowWindow((rows) => {
    for (const row of rows) if (row.written >= tail.seenSince()) dropped.add(row);
  });
  const compacted = createCompactedHours(store);
  const rollups = createRollupReader(store, createRollupListing(store, clock));
  const tail = createLedgerTail({
    ...{ store, compacted, window, clock, windowMs },
    maxBytes: () => maxBytes,
    onSkipped: unread.skip,
    onFault: unread.miss,
    onProgress() {
      dropped.forgetBefore(tail.seenSince());
      schedule.progressed();
    },
    onRows: () => undefined,
    onRestart: () => dropped.forgetBefore(tail.seenSince()),
  });
  const { completeSince, seenSince } = tail;
  const schedule = createTailSchedule({
    ...{ tail, clock },
    fastInterval: options.fastInterval ?? 3000,
    slowInterval: options.slowInterval ?? 60_000,
  });
  const summarySources = { window, dropped, rollups, completeSince, seenSince, clock };

  /** Lines that the memory lacks, because the store cannot be read now. */
  function unfollowed(): string[] {
    const { error, refreshedAt } = schedule.status();
    if (error === null) return [];
    const since = refreshedAt === null ? '' : ` since ${new Date(refreshedAt).toISOString()}`;
    return [`deliveries${since}, because the ledger cannot be read: ${error}`];
  }

  return {
    start: schedule.start,
    stop: schedule.stop,
    touch: schedule.touch,
    refresh: schedule.refresh,
    async summary(query = {}) {
      const range = summaryRange(query, clock());
      const summary = await summarise(summarySources, range);
      const since = Math.max(schedule.status().refreshedAt ?? range.since, range.since);
      const faults = [...unfollowed(), ...unread.within(range), ...summary.faults];
      if (unfollowed().length === 0 || since >= range.until) return { ...summary, faults };
      const gap = { since: new Date(since).toISOString(), until: summary.until };
      return { ...summary, gaps: [...summary.gaps, gap], faults };
    },
    callbacks: (scope = null) =>
      callbackFigures({ window, completeSince: completeSince(), scope, now: clock() }),
  };
}
