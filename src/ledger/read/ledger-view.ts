import { isDelivery, type LedgerLine } from '../../domain/delivery.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { StoreCondition } from '../../store/store-remedies.js';
import { waitAtMost } from '../../time/deadline.js';
import { type DeliveryQuery, instantOf, prepareSearch } from './delivery-query.js';
import { type FoundLines, searchDeliveries } from './delivery-search.js';
import { createFailureHistory } from './failures/failure-history.js';
import { type FailureQuery, findOpenFailures } from './failures/open-failures.js';
import { type CallbackFigures, callbackFigures } from './figures/callback-figures.js';
import { createDroppedRows } from './figures/dropped-rows.js';
import { type LedgerSummary, summarise } from './figures/ledger-summary.js';
import { createRollupListing } from './figures/rollup-listing.js';
import { createRollupReader } from './figures/rollup-reader.js';
import { type SummaryQuery, summaryRange } from './figures/summary-query.js';
import { createCompactedHours } from './log/compacted-hours.js';
import { createLogBeginning } from './log/log-beginning.js';
import { encodeCursor } from './log/log-position.js';
import { DAY } from './time-ranges.js';
import { createUnreadLines, type SkippedLines } from './unread-lines.js';
import { createDroppedJobs } from './window/dropped-jobs.js';
import { type LedgerRow, linesOf } from './window/ledger-row.js';
import { createLedgerTail } from './window/ledger-tail.js';
import { rowScope } from './window/row-scope.js';
import { createRowWindow } from './window/row-window.js';
import { createTailSchedule } from './window/tail-schedule.js';

export interface LedgerViewOptions {
  readonly store: ObjectStore;
  /** How far back lines are held in memory, in milliseconds. Default 7 days, as long as the service keeps results. */
  readonly windowMs?: number;
  /** How long the service keeps a job's results, in milliseconds. Default 7 days. */
  readonly retention?: number;
  /** Bytes of all lines in memory and of the failing jobs. Default 48 MiB. */
  readonly maxBytes?: number;
  /** Milliseconds between polls of the store while the view is in use, and otherwise. Defaults 3,000 and 60,000. */
  readonly fastInterval?: number;
  readonly slowInterval?: number;
  /** Milliseconds `openFailures` waits for the search of the past. Default 600. */
  readonly patience?: number;
  /** Called with the first segment that holds lines of a newer version. */
  readonly onNewerLines?: ((key: string) => void) | undefined;
  /** Milliseconds that a page may search the store. Default 2,000. */
  readonly pageTime?: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

export interface DeliveryPage {
  readonly deliveries: readonly LedgerLine[];
  readonly nextCursor: string | null;
  /** Whether nothing that matches is left to be read or could not be read. */
  readonly complete: boolean;
  /** ISO 8601: lines written from then on were searched; null when the search reached the beginning of the ledger. */
  readonly searchedBackTo: string | null;
  /** Why lines may be missing: files of the ledger that are damaged or missing, or a store that cannot be read now. */
  readonly faults: readonly string[];
}

/** Failing jobs. Those whose results the service drops first come first. */
export interface FailurePage {
  readonly failures: readonly FailureLine[];
  /** Number of all matching jobs, by outcome. */
  readonly counts: Readonly<Record<string, number>>;
  readonly nextCursor: string | null;
  /** ISO 8601; from here on every delivery was looked at. */
  readonly searchedBackTo: string;
  /** Whether everything within the service's retention was looked at. */
  readonly complete: boolean;
  /** What was not looked at, and why. */
  readonly faults: readonly string[];
}

/** The failed line, and when (ISO 8601, at the latest) the service drops the job's results. */
export type FailureLine = LedgerLine & { readonly retentionEndsAt: string };

export interface LedgerViewStatus {
  readonly state: 'loading' | 'ready';
  /** ISO 8601; everything from then on is in memory. Null before the first rows are. */
  readonly completeSince: string | null;
  readonly rows: number;
  /** Lines that cannot be parsed. */
  readonly broken: SkippedLines;
  /** Lines of a newer version, which are skipped: their fields may mean something else. */
  readonly newer: SkippedLines;
  /** ISO 8601 of the last successful poll of the store, or null. */
  readonly refreshedAt: string | null;
  /** Why the last poll failed, or null. */
  readonly error: string | null;
  /** What `error` says of the whole store; null where it does not say. */
  readonly condition: StoreCondition | null;
}

/** A read model of the ledger of all replicas, kept in memory. */
export interface LedgerView {
  /** Begins to load the ledger and to follow it. */
  start(): void;
  /** Stops following; settles when no read of the store is in flight. */
  stop(): Promise<void>;
  /** Marks the view as in use: it polls at the fast interval for the next minute. */
  touch(): void;
  /** Polls the store now. Rejects with `StoreError` when that fails. */
  refresh(): Promise<void>;
  /** Newest first. Rejects with `Problem` `request-invalid` for bad filters and cursors. */
  deliveries(query?: DeliveryQuery): Promise<DeliveryPage>;
  /** The same with the positions of the lines. */
  search(query: DeliveryQuery): Promise<FoundLines>;
  /**
   * All matching lines of deliveries, page by page. Without `since` they reach back as far as the service keeps the results of jobs.
   */
  lines(query?: Omit<DeliveryQuery, 'limit' | 'cursor'>): AsyncGenerator<readonly LedgerLine[]>;
  /**
   * Jobs whose last outcome is a failure, over the time the service keeps results. Answers within a second, even with what
   * was found so far; the search goes on. Rejects with `Problem` `request-invalid` for a cursor that this view did not
   * return.
   */
  openFailures(query: FailureQuery): Promise<FailurePage>;
  /**
   * Ids of the failing jobs that their results settle, over the same time and as far as it was searched: a conflict is an
   * operator's to decide. Reads the ledger before; rejects with `StoreError` when that fails.
   */
  failingJobs(): Promise<ReadonlySet<string>>;
  /** Settles when all that `openFailures` covers is searched; without it the first pages may be incomplete. */
  readPast(): Promise<void>;
  /** Whether a line in memory, or one of a failing job, has this value. */
  holds(
    field: 'source' | 'region' | 'status' | 'outcome' | 'origin',
    value: string,
    scope?: SourceScope,
  ): boolean;
  /**
   * Over the lines in memory and the rollups; names what they do not cover. Rejects with `Problem` `request-invalid` for
   * bad instants.
   */
  summary(query?: SummaryQuery): Promise<LedgerSummary>;
  /** How the callbacks of the last hour and day fared, over the lines in memory. */
  callbacks(scope?: SourceScope): Promise<CallbackFigures>;
  status(): LedgerViewStatus;
}

/** The share of the failing jobs in `maxBytes`; the rest is the window's. */
const FAILING_SHARE = 0.25;
/** The share of the index of lines that left the window, at most; what it does not take is the window's. */
const INDEX_SHARE = 0.25;

export function createLedgerView(options: LedgerViewOptions): LedgerView {
  const { store, clock = Date.now, windowMs = 7 * DAY, retention = 7 * DAY, patience = 600 } = options;
  const maxBytes = options.maxBytes ?? 48 * 1024 * 1024;
  const unread = createUnreadLines(options.onNewerLines);
  const dropped = createDroppedRows();
  const droppedJobs = createDroppedJobs(maxBytes * INDEX_SHARE);
  const window = createRowWindow((rows) => {
    for (const row of rows) {
      if (row.written < tail.seenSince()) continue;
      dropped.add(row);
      droppedJobs.add(row);
    }
  });
  const compacted = createCompactedHours(store);
  const rollups = createRollupReader(store, createRollupListing(store, clock));
  const tail = createLedgerTail({
    ...{ store, compacted, window, clock, windowMs },
    maxBytes: () => maxBytes * (1 - FAILING_SHARE) - droppedJobs.bytes,
    onSkipped: unread.skip,
    onFault: unread.miss,
    onProgress() {
      dropped.forgetBefore(tail.seenSince());
      schedule.progressed();
    },
    onRows: (rows) => failureHistory.take(rows),
    onRestart() {
      dropped.forgetBefore(tail.seenSince());
      failureHistory.restart();
    },
  });
  const { completeSince, seenSince } = tail;
  const schedule = createTailSchedule({
    ...{ tail, clock },
    fastInterval: options.fastInterval ?? 3000,
    slowInterval: options.slowInterval ?? 60_000,
  });
  const failureHistory = createFailureHistory({
    ...{ store, compacted, window, clock, retention, completeSince, seenSince },
    maxBytes: maxBytes * FAILING_SHARE,
  });
  const searchParts = {
    ...{ store, compacted, window, droppedJobs, completeSince, seenSince },
    pageTime: options.pageTime ?? 2000,
    isLoading: schedule.isLoading,
    onSkipped: unread.skip,
    beginning: createLogBeginning(store),
  };
  const failureSources = { window, history: failureHistory, retention };
  const summarySources = { window, dropped, rollups, completeSince, seenSince, clock };

  /** Lines that the memory lacks, because the store cannot be read now. */
  function unfollowed(): string[] {
    const { error, refreshedAt } = schedule.status();
    if (error === null) return [];
    const since = refreshedAt === null ? '' : ` since ${new Date(refreshedAt).toISOString()}`;
    return [`deliveries${since}, because the ledger cannot be read: ${error}`];
  }

  async function* lines(query: Omit<DeliveryQuery, 'limit' | 'cursor'> = {}) {
    const until = instantOf('until', query.until) ?? clock();
    const since = query.since ?? new Date(until - retention).toISOString();
    const exists = rowScope(window, query.scope ?? null);
    let cursor: string | undefined;
    do {
      const search = prepareSearch({ ...query, since, limit: 500, cursor }, exists, isDelivery);
      const { entries, next } = await searchDeliveries(searchParts, search);
      yield entries.map(({ line }) => line);
      cursor = next === null ? undefined : encodeCursor(next);
    } while (cursor !== undefined);
  }

  async function search(query: DeliveryQuery): Promise<FoundLines> {
    const prepared = prepareSearch(query, rowScope(window, query.scope ?? null));
    const found = await searchDeliveries(searchParts, prepared);
    const since = found.searchedBackTo ?? Number.NEGATIVE_INFINITY;
    const faults = [
      ...found.faults,
      ...unread.within({ since, until: prepared.start.written }),
      ...unfollowed(),
    ];
    return { ...found, faults: [...new Set(faults)] };
  }

  return {
    start() {
      schedule.start();
      void failureHistory.update();
    },
    async stop() {
      await Promise.all([schedule.stop(), failureHistory.stop()]);
    },
    readPast: failureHistory.update,
    touch: schedule.touch,
    refresh: schedule.refresh,
    search,
    async deliveries(query = {}) {
      const { entries, next, searchedBackTo, faults } = await search(query);
      return {
        deliveries: entries.map(({ line }) => line),
        nextCursor: next && encodeCursor(next),
        complete: next === null && faults.length === 0,
        searchedBackTo: searchedBackTo === null ? null : new Date(searchedBackTo).toISOString(),
        faults,
      };
    },
    lines,
    async openFailures(query) {
      await waitAtMost(patience, failureHistory.update());
      const found = findOpenFailures(failureSources, query);
      const range = { since: clock() - retention, until: clock() };
      const faults = [...found.unseen, ...unread.within(range), ...unfollowed()];
      const failing = linesOf(found.failures.map(({ row }) => row));
      return {
        failures: failing.flatMap((line, index) => {
          const ends = found.failures[index]?.retentionEnds ?? 0;
          return line === null ? [] : [{ ...line, retentionEndsAt: new Date(ends).toISOString() }];
        }),
        counts: found.counts,
        nextCursor: found.nextCursor,
        searchedBackTo: new Date(Math.min(found.since, clock())).toISOString(),
        complete: faults.length === 0,
        faults,
      };
    },
    async failingJobs() {
      await schedule.refresh();
      await waitAtMost(patience, failureHistory.update());
      const { failures } = findOpenFailures(failureSources, { limit: Number.POSITIVE_INFINITY });
      const settleable = failures.filter(({ row }) => row.outcome !== 'conflict');
      return new Set(settleable.flatMap(({ row }) => row.job ?? []));
    },
    holds(field, value, scope = null) {
      const has = (row: LedgerRow) => row[field] === value && isInScope(scope, row.source);
      for (const { rows } of window.hoursBefore()) if (rows.some(has)) return true;
      return failureHistory.some(has);
    },
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
    status() {
      const since = completeSince();
      const { state, refreshedAt, error, condition } = schedule.status();
      return {
        state,
        completeSince: Number.isFinite(since) ? new Date(since).toISOString() : null,
        rows: window.size,
        broken: unread.broken(),
        newer: unread.newer(),
        refreshedAt: refreshedAt === null ? null : new Date(refreshedAt).toISOString(),
        error,
        condition,
      };
    },
  };
}
