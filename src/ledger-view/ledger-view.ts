import type { LedgerLine } from '../domain/delivery.js';
import { Problem } from '../domain/problem.js';
import type { ObjectStore } from '../store/object-store.js';
import { type DeliveryQuery, instantOf, prepareSearch } from './delivery-query.js';
import { searchRows } from './delivery-search.js';
import { createLedgerHistory } from './ledger-history.js';
import { type LedgerRow, linesOf } from './ledger-row.js';
import { type LedgerSummary, summarise } from './ledger-summary.js';
import { createLedgerTail } from './ledger-tail.js';
import { type FailureQuery, findOpenFailures } from './open-failures.js';
import { encodeCursor } from './row-position.js';
import { createRowWindow } from './row-window.js';
import { type BrokenLines, createSegmentIntake } from './segment-intake.js';
import { createTailSchedule } from './tail-schedule.js';

export interface LedgerViewOptions {
  readonly store: ObjectStore;
  /** How far back lines are held in memory, in milliseconds. Default 7 days: what the service itself keeps. */
  readonly windowMs?: number;
  /** How long the service keeps a job's results, in milliseconds. Default 7 days. */
  readonly retention?: number;
  /** Lines held in memory at most; some 400 bytes each. Default 200,000. */
  readonly maxRows?: number;
  /** Milliseconds between looks while somebody looks, and otherwise. Defaults 3,000 and 60,000. */
  readonly fastInterval?: number;
  readonly slowInterval?: number;
  /** Segments read at once. Default 16. */
  readonly concurrency?: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
}

export interface DeliveryPage {
  readonly deliveries: readonly LedgerLine[];
  readonly nextCursor: string | null;
}

/** Failing jobs, the one first whose results the service drops first. */
export interface FailurePage {
  readonly failures: readonly FailureLine[];
  /** All that match, by outcome. */
  readonly counts: Readonly<Record<string, number>>;
  readonly nextCursor: string | null;
}

/** The line that failed, and until when (ISO 8601, at the latest) the service can still be asked. */
export type FailureLine = LedgerLine & { readonly retentionEndsAt: string };

export interface SummaryQuery {
  /** ISO 8601. Default: 24 hours before `until`. */
  readonly since?: string | undefined;
  /** ISO 8601. Default: now. */
  readonly until?: string | undefined;
  /** Number of equal stretches, 1 to 500. Default 48. */
  readonly buckets?: number | undefined;
}

export interface LedgerViewStatus {
  readonly state: 'loading' | 'ready';
  /** ISO 8601; from here on everything is in memory. Null before anything is. */
  readonly completeSince: string | null;
  readonly rows: number;
  readonly broken: BrokenLines;
  /** ISO 8601 of the last successful look at the store, or null. */
  readonly refreshedAt: string | null;
  /** What the last look failed of, or null. */
  readonly error: string | null;
}

/** What this replica knows of the ledger of all replicas. */
export interface LedgerView {
  /** ISO 8601: from here on lines should be in memory; later than the window by what it moves on at a time. */
  windowSince(now: number): string;
  /** Begins to load and to follow. */
  start(): void;
  /** Ends following; settles when nothing of it is under way. */
  stop(): Promise<void>;
  /** Somebody looks: follow closely for the next minute. */
  touch(): void;
  /** Looks at the store now. Rejects with `StoreError` when that fails. */
  refresh(): Promise<void>;
  /** Newest first. Rejects with `Problem` `request-invalid` for bad filters and cursors. */
  deliveries(query?: DeliveryQuery): Promise<DeliveryPage>;
  /**
   * The same in pages to the end, for who needs no more of a line than its row. Without `since` it looks back
   * over the window only: what is older the service has forgotten as well.
   */
  rows(query?: Omit<DeliveryQuery, 'limit' | 'cursor'>): AsyncGenerator<readonly LedgerRow[]>;
  /**
   * Jobs whose last word is a failure, over what is in memory. Rejects with `Problem` `request-invalid` for a cursor
   * that this view did not give out.
   */
  openFailures(query: FailureQuery): Promise<FailurePage>;
  /** Whether a line in memory has this value. */
  holds(field: 'source' | 'region' | 'status' | 'outcome' | 'origin', value: string): boolean;
  /** Over what is in memory. Rejects with `Problem` `request-invalid` for bad instants. */
  summary(query?: SummaryQuery): Promise<LedgerSummary>;
  status(): LedgerViewStatus;
}

/** Milliseconds: the window moves on by whole hours, at the next look after one. */
const WINDOW_STEP = 2 * 3_600_000;
const DAY = 24 * 3_600_000;

export function createLedgerView(options: LedgerViewOptions): LedgerView {
  const { store, clock = Date.now, windowMs = 7 * DAY, retention = 7 * DAY } = options;
  const intake = createSegmentIntake(store, options.concurrency ?? 16);
  const window = createRowWindow();
  const history = createLedgerHistory({ store, intake, maxCachedRows: 50_000 });
  const tail = createLedgerTail({
    store,
    intake,
    window,
    clock,
    windowMs,
    maxRows: options.maxRows ?? 200_000,
    onProgress: () => schedule.progressed(),
  });
  const schedule = createTailSchedule({
    tail,
    clock,
    fastInterval: options.fastInterval ?? 3000,
    slowInterval: options.slowInterval ?? 60_000,
  });
  const ground = { window, history, completeSince: tail.completeSince, moreLoaded: schedule.moreLoaded };

  return {
    windowSince: (now) => new Date(now - windowMs + WINDOW_STEP).toISOString(),
    start: schedule.start,
    stop: schedule.stop,
    touch: schedule.touch,
    refresh: schedule.refresh,
    async deliveries(query = {}) {
      const { rows, next } = await searchRows(ground, prepareSearch(query));
      return { deliveries: linesOf(rows), nextCursor: next && encodeCursor(next) };
    },
    async *rows(query = {}) {
      const until = instantOf('until', query.until) ?? clock();
      const since = query.since ?? new Date(until - windowMs).toISOString();
      let cursor: string | undefined;
      do {
        const { rows, next } = await searchRows(
          ground,
          prepareSearch({ ...query, since, limit: 500, cursor }),
        );
        yield rows;
        cursor = next === null ? undefined : encodeCursor(next);
      } while (cursor !== undefined);
    },
    async openFailures(query) {
      const { failures, counts, nextCursor } = await findOpenFailures(window, query, retention);
      const ends = new Map(failures.map(({ row, retentionEnds }) => [row.job, retentionEnds]));
      return {
        // By job, of which each has one: a line that cannot be read is left out, and must not shift the others.
        failures: linesOf(failures.map(({ row }) => row)).map((line) => ({
          ...line,
          retentionEndsAt: new Date(ends.get(line.jobId) ?? 0).toISOString(),
        })),
        counts,
        nextCursor,
      };
    },
    holds(field, value) {
      for (const { rows } of window.hoursBefore()) if (rows.some((row) => row[field] === value)) return true;
      return false;
    },
    summary: async (query = {}) => summarise(window, summaryRange(query, clock())),
    status() {
      const since = tail.completeSince();
      const { state, refreshedAt, error } = schedule.status();
      return {
        state,
        completeSince: Number.isFinite(since) ? new Date(since).toISOString() : null,
        rows: window.size,
        broken: intake.broken(),
        refreshedAt: refreshedAt === null ? null : new Date(refreshedAt).toISOString(),
        error,
      };
    },
  };
}

function summaryRange(query: SummaryQuery, now: number) {
  // Exclusive end: a line of this very millisecond counts.
  const until = instantOf('until', query.until) ?? now + 1;
  const since = instantOf('since', query.since) ?? until - DAY;
  const buckets = query.buckets ?? 48;
  if (since >= until) throw new Problem('request-invalid', 'since must lie before until.');
  if (!Number.isInteger(buckets) || buckets < 1 || buckets > 500) {
    throw new Problem('request-invalid', 'buckets must be a whole number from 1 to 500.');
  }
  return { since, until, buckets };
}
