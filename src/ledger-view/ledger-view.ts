import { isDelivery, type LedgerLine } from '../domain/delivery.js';
import { Problem } from '../domain/problem.js';
import { isInScope, type SourceScope } from '../domain/rights.js';
import { hourOfKey } from '../ledger/ledger-keys.js';
import type { ObjectStore } from '../store/object-store.js';
import type { StoreCondition } from '../store/store-remedies.js';
import { waitAtMost } from '../time/deadline.js';
import { type DeliveryQuery, instantOf, prepareSearch } from './delivery-query.js';
import { searchRows } from './delivery-search.js';
import { createDroppedRows } from './dropped-rows.js';
import { createFailureHistory } from './failure-history.js';
import { createLedgerHistory } from './ledger-history.js';
import { type LedgerRow, linesOf } from './ledger-row.js';
import { type LedgerSummary, summarise } from './ledger-summary.js';
import { createLedgerTail } from './ledger-tail.js';
import { type FailureQuery, findOpenFailures } from './open-failures.js';
import { createPastFailures } from './past-failures.js';
import { createRemovedSegments } from './removed-segments.js';
import { createRollupListing } from './rollup-listing.js';
import { createRollupReader } from './rollup-reader.js';
import { encodeCursor } from './row-position.js';
import { rowScope } from './row-scope.js';
import { createRowWindow } from './row-window.js';
import { createSegmentLoader, type SkippedLines } from './segment-loader.js';
import { createTailSchedule } from './tail-schedule.js';
import { HOUR, type TimeRange } from './time-ranges.js';

export interface LedgerViewOptions {
  readonly store: ObjectStore;
  /** How far back lines are held in memory, in milliseconds. Default 7 days, as long as the service keeps results. */
  readonly windowMs?: number;
  /** How long the service keeps a job's results, in milliseconds. Default 7 days. */
  readonly retention?: number;
  /** Bytes of all lines in memory and of the failing jobs before them. Default 48 MiB. */
  readonly maxBytes?: number;
  /** Upper bound of lines in memory besides. Default: none. */
  readonly maxRows?: number;
  /** Milliseconds between polls of the store while the view is in use, and otherwise. Defaults 3,000 and 60,000. */
  readonly fastInterval?: number;
  readonly slowInterval?: number;
  /** Milliseconds `openFailures` waits for the search of the past. Default 600. */
  readonly patience?: number;
  /** Segments read at once. Default 16. */
  readonly concurrency?: number;
  /** Called with the first segment that holds lines of a newer version. */
  readonly onNewerLines?: ((key: string) => void) | undefined;
  /** Milliseconds that a page may search hours before the window. Default 2,000. */
  readonly pageTime?: number;
  /** Bytes of all indexes of hours before the window. Default 40 MiB. */
  readonly maxIndexBytes?: number;
  /** Lines by which such an index grows. Default 16,384. */
  readonly indexChunk?: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

export interface DeliveryPage {
  readonly deliveries: readonly LedgerLine[];
  readonly nextCursor: string | null;
  /** ISO 8601: lines received from then on were searched; null when the search reached the beginning of the ledger. */
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
  /** What was not looked at. */
  readonly unseen: readonly string[];
}

/** The failed line, and when (ISO 8601, at the latest) the service drops the job's results. */
export type FailureLine = LedgerLine & { readonly retentionEndsAt: string };

export interface SummaryQuery {
  /** ISO 8601. Default: 24 hours before `until`. */
  readonly since?: string | undefined;
  /** ISO 8601. Default: now. */
  readonly until?: string | undefined;
  /** Number of parts, 1 to 500; there may be fewer. Default 48. */
  readonly buckets?: number | undefined;
  /** Only lines of these sources; null or absent: all lines. */
  readonly scope?: SourceScope | undefined;
}

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
  /**
   * All matching rows, page by page, without their lines. Without `since` it covers the window only: the service no longer
   * keeps the results of older jobs.
   */
  rows(query?: Omit<DeliveryQuery, 'limit' | 'cursor'>): AsyncGenerator<readonly LedgerRow[]>;
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
  status(): LedgerViewStatus;
}

const DAY = 24 * 3_600_000;
/** The share of the failing jobs in `maxBytes`; the rest is the window's. */
const PAST_SHARE = 0.25;

export function createLedgerView(options: LedgerViewOptions): LedgerView {
  const { store, clock = Date.now, windowMs = 7 * DAY, retention = 7 * DAY, patience = 600 } = options;
  const maxBytes = options.maxBytes ?? 48 * 1024 * 1024;
  const loader = createSegmentLoader(store, {
    concurrency: options.concurrency ?? 16,
    onNewerLines: options.onNewerLines,
  });
  const dropped = createDroppedRows();
  const window = createRowWindow((rows) => {
    for (const row of rows) {
      if (row.time < tail.seenSince()) continue;
      dropped.add(row);
      past.add(row);
    }
  });
  const listing = createRollupListing(store, clock);
  const rollups = createRollupReader(store, listing);
  const past = createPastFailures(maxBytes * PAST_SHARE);
  const history = createLedgerHistory({
    store,
    loader,
    clock,
    recent: {
      completeSince: () => tail.completeSince(),
      oldestLine: (partition, name) => tail.oldestLine(partition, name),
    },
    maxIndexBytes: options.maxIndexBytes ?? 40 * 1024 * 1024,
    indexChunk: options.indexChunk,
  });
  const tail = createLedgerTail({
    store,
    loader,
    window,
    clock,
    windowMs,
    limit: { rows: options.maxRows ?? Number.POSITIVE_INFINITY, bytes: maxBytes * (1 - PAST_SHARE) },
    removed: createRemovedSegments(store, listing),
    onProgress: () => {
      dropped.forgetBefore(tail.seenSince());
      schedule.progressed();
    },
  });
  const schedule = createTailSchedule({
    tail,
    clock,
    fastInterval: options.fastInterval ?? 3000,
    slowInterval: options.slowInterval ?? 60_000,
  });
  const sources = {
    window,
    history,
    pageTime: options.pageTime ?? 2000,
    completeSince: tail.completeSince,
    moreLoaded: schedule.moreLoaded,
  };
  const { completeSince, seenSince } = tail;
  const failureHistory = createFailureHistory({
    ...{ store, listing, rollups, past, clock, retention, seenSince, window },
  });
  const failureSources = { window, past, scope: failureHistory.scope };
  const summarySources = { window, dropped, rollups, completeSince, seenSince, clock };

  /** Failures of the past have to be known before the rows that settle them leave the window. */
  async function followPast(): Promise<void> {
    for (let more = schedule.moreLoaded(); more; more = schedule.moreLoaded()) await more;
    await failureHistory.update();
  }

  /** Lines that cannot be parsed, of segments that were read, in the hours of a range. */
  function unreadLines({ since, until }: TimeRange): string[] {
    return loader.broken().segments.flatMap(({ key, lines }) => {
      const hour = hourOfKey(key);
      const isSearched = hour <= until && hour + HOUR > since;
      return isSearched ? `lines of ${key} that cannot be read (${lines})` : [];
    });
  }

  /** Lines that the memory lacks, because the store cannot be read now. */
  function unfollowed(): string[] {
    const { error, refreshedAt } = schedule.status();
    if (error === null) return [];
    const since = refreshedAt === null ? '' : ` since ${new Date(refreshedAt).toISOString()}`;
    return [`deliveries${since}, because the ledger cannot be read: ${error}`];
  }

  return {
    start() {
      schedule.start();
      void followPast();
    },
    async stop() {
      await Promise.all([schedule.stop(), failureHistory.stop()]);
    },
    readPast: failureHistory.update,
    touch: schedule.touch,
    refresh: schedule.refresh,
    async deliveries(query = {}) {
      const search = prepareSearch(query, rowScope(window, query.scope ?? null));
      const { rows, next, searchedBackTo, faults } = await searchRows(sources, search);
      const searched = { since: searchedBackTo ?? Number.NEGATIVE_INFINITY, until: search.start.time };
      return {
        deliveries: linesOf(rows),
        nextCursor: next && encodeCursor(next),
        searchedBackTo: searchedBackTo === null ? null : new Date(searchedBackTo).toISOString(),
        faults: [...faults, ...unreadLines(searched), ...unfollowed()],
      };
    },
    async *rows(query = {}) {
      const until = instantOf('until', query.until) ?? clock();
      const since = query.since ?? new Date(until - windowMs).toISOString();
      let cursor: string | undefined;
      do {
        const { rows, next } = await searchRows(
          sources,
          prepareSearch(
            { ...query, since, limit: 500, cursor },
            rowScope(window, query.scope ?? null),
            isDelivery,
          ),
        );
        yield rows;
        cursor = next === null ? undefined : encodeCursor(next);
      } while (cursor !== undefined);
    },
    async openFailures(query) {
      await waitAtMost(patience, failureHistory.update());
      const found = await findOpenFailures(failureSources, query, retention);
      const { failures, counts, nextCursor, since } = found;
      const unseen = [
        ...found.unseen,
        ...unreadLines({ since: clock() - retention, until: clock() }),
        ...unfollowed(),
      ];
      const ends = new Map(failures.map(({ row, retentionEnds }) => [row.job, retentionEnds]));
      return {
        // Matched by job, not by index: a line that cannot be parsed is left out.
        failures: linesOf(failures.map(({ row }) => row)).map((line) => ({
          ...line,
          retentionEndsAt: new Date(ends.get(line.jobId) ?? 0).toISOString(),
        })),
        counts,
        nextCursor,
        searchedBackTo: new Date(Math.min(since, clock())).toISOString(),
        complete: unseen.length === 0,
        unseen,
      };
    },
    async failingJobs() {
      await schedule.refresh();
      await waitAtMost(patience, failureHistory.update());
      const all = { limit: Number.POSITIVE_INFINITY };
      const { failures } = await findOpenFailures(failureSources, all, retention);
      const settleable = failures.filter(({ row }) => row.outcome !== 'conflict');
      return new Set(settleable.flatMap(({ row }) => row.job ?? []));
    },
    holds(field, value, scope = null) {
      const has = (row: LedgerRow) => row[field] === value && isInScope(scope, row.source);
      for (const { rows } of window.hoursBefore()) if (rows.some(has)) return true;
      return [...past.jobs.values()].some(({ failures }) =>
        Object.values(failures).some(({ row }) => has(row)),
      );
    },
    async summary(query = {}) {
      const range = summaryRange(query, clock());
      const summary = await summarise(summarySources, range);
      const since = Math.max(schedule.status().refreshedAt ?? range.since, range.since);
      const faults = unfollowed();
      if (faults.length === 0 || since >= range.until) return summary;
      const gap = { since: new Date(since).toISOString(), until: summary.until };
      return { ...summary, gaps: [...summary.gaps, gap], faults: [...faults, ...summary.faults] };
    },
    status() {
      const since = tail.completeSince();
      const { state, refreshedAt, error, condition } = schedule.status();
      return {
        state,
        completeSince: Number.isFinite(since) ? new Date(since).toISOString() : null,
        rows: window.size,
        broken: loader.broken(),
        newer: loader.newer(),
        refreshedAt: refreshedAt === null ? null : new Date(refreshedAt).toISOString(),
        error,
        condition,
      };
    },
  };
}

function summaryRange(query: SummaryQuery, now: number) {
  // The end is exclusive, and a line of this millisecond counts.
  const until = instantOf('until', query.until) ?? now + 1;
  const since = instantOf('since', query.since) ?? until - DAY;
  const buckets = query.buckets ?? 48;
  if (since >= until) throw new Problem('request-invalid', 'since must lie before until.');
  if (!Number.isInteger(buckets) || buckets < 1 || buckets > 500) {
    throw new Problem('request-invalid', 'buckets must be a whole number from 1 to 500.');
  }
  return { since, until, buckets, scope: query.scope ?? null };
}
