import type { LedgerLine } from '../domain/delivery.js';
import { Problem } from '../domain/problem.js';
import type { SourceScope } from '../domain/rights.js';
import { HOUR } from '../ledger/hours.js';
import type { ObjectStore } from '../store/object-store.js';
import type { StoreCondition } from '../store/store-remedies.js';
import { instantOf } from '../text/instant-of.js';
import { waitAtMost } from '../time/deadline.js';
import { createFillSchedule } from './fill/fill-schedule.js';
import { openIndexOfStore } from './fill/open-index-of-store.js';
import { extentOf, type IndexExtent } from './index-extent.js';
import type { IndexState } from './index-state.js';
import type { IndexPlace } from './open-index.js';
import type { CallbackCounts } from './queries/count-callbacks.js';
import type { FailingJobs } from './queries/failure-page.js';
import type { findJobsByPart } from './queries/find-jobs-by-part.js';
import type { NamedField } from './queries/knows-name.js';
import type { PeriodSummary } from './queries/summarise-period.js';
import type { DeliveryQuery } from './questions/delivery-query.js';
import { allDeliveries, type FoundLines, findDeliveries } from './questions/find-deliveries.js';
import { type FailureQuery, type FoundFailures, findOpenFailures } from './questions/find-open-failures.js';
import { findSummary, type SummaryQuery } from './questions/find-summary.js';
import { missingInWords } from './questions/missing-in-words.js';
import { createPacedCounts } from './questions/paced-counts.js';
import type { StartIndex } from './start-index-worker.js';

export interface LedgerViewOptions {
  readonly store: ObjectStore;
  /** Where the index of a store is, by the id of the store. Default, and null: in memory. */
  readonly pathFor?: ((storeId: string) => string | null) | undefined;
  /** Default: in a worker. */
  readonly startIndex?: StartIndex | undefined;
  /** How far back the index reaches, in milliseconds. Default 30 days. */
  readonly reach?: number | undefined;
  /** How long the service keeps a job's results, in milliseconds. Default 7 days. */
  readonly retention?: number | undefined;
  /** Bytes of the index, of one in memory 64 MiB at most. Default 2 GiB. */
  readonly maxBytes?: number | undefined;
  /** Milliseconds between reads of what is new while somebody looks, and otherwise. Defaults 2,000 and 30,000. */
  readonly fastInterval?: number | undefined;
  readonly slowInterval?: number | undefined;
  /** Called when the index was opened, and again when its worker had to be started again. */
  readonly onOpened?: ((place: IndexPlace) => void) | undefined;
  /** Called with the first segment that holds lines of a newer version. */
  readonly onNewerLines?: ((key: string) => void) | undefined;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

export interface DeliveryPage {
  readonly deliveries: readonly LedgerLine[];
  readonly nextCursor: string | null;
  /** Whether nothing that matches is left to be read or could not be read. */
  readonly complete: boolean;
  /** ISO 8601: lines written from then on were searched; null when the search reached the beginning of the ledger. */
  readonly searchedBackTo: string | null;
  /** Why lines may be missing. */
  readonly faults: readonly string[];
  readonly index: IndexExtent;
}

/** Figures of a period. */
export interface LedgerSummary extends PeriodSummary {
  readonly index: IndexExtent;
}

export interface FailingNow extends Pick<FailurePage, 'counts' | 'searchedBackTo' | 'complete'> {
  /** At most one. */
  readonly failures: readonly { jobId: string; outcome: string; retentionEndsAt: string }[];
}

export interface FailurePage extends FoundFailures {
  /** ISO 8601; from here on every delivery was looked at. */
  readonly searchedBackTo: string;
  /** Whether everything within the service's retention was looked at. */
  readonly complete: boolean;
  /** What was not looked at, and why. */
  readonly faults: readonly string[];
  readonly index: IndexExtent;
}

/** Lines that cannot be read, and the segments that they are in. */
interface SkippedSegments {
  readonly count: number;
  readonly segments: readonly { readonly key: string; readonly lines: number }[];
}

export interface LedgerViewStatus {
  readonly state: 'loading' | 'ready';
  /** Where the index is; null before it was opened. */
  readonly place: IndexPlace | null;
  /** ISO 8601; everything from then on is in the index. Null before the first rows are. */
  readonly completeSince: string | null;
  /** Lines in the index. */
  readonly rows: number;
  /** Lines that cannot be parsed. */
  readonly broken: SkippedSegments;
  /** Lines of a newer version, which are skipped: their fields may mean something else. */
  readonly newer: SkippedSegments;
  /** ISO 8601 of the last successful read of what is new, or null. */
  readonly refreshedAt: string | null;
  /** Why the last read failed, or null. */
  readonly error: string | null;
  /** What failed: a call of the store, or of the index, such as on a full disk; null when `error` is. */
  readonly fault: 'store' | 'index' | null;
  /** What `error` says of the whole store; null where it does not say. */
  readonly condition: StoreCondition | null;
}

/** What the ledger of all replicas says, by its index. Questions reject with `StoreError` and `IndexError`. */
export interface LedgerView {
  /** Begins to fill the index and to follow the ledger. */
  start(): void;
  /** Ends it, and the worker of the index. */
  stop(): Promise<void>;
  /** Somebody looks: the ledger is read at the fast interval for the next minute. */
  touch(): void;
  /** Takes what was written before; until `start` was called all that the index is to have. */
  refresh(): Promise<void>;
  /** Settles when everything that the index is to have is in. */
  readPast(): Promise<void>;
  /** Newest first. Rejects with `Problem` `request-invalid` for bad filters and cursors. */
  deliveries(query?: DeliveryQuery): Promise<DeliveryPage>;
  /** The same with the places of the lines. */
  search(query: DeliveryQuery): Promise<FoundLines & Pick<DeliveryPage, 'faults' | 'index'>>;
  /**
   * To be called before an act on a selection of lines: rejects with `Problem` `conflict` when the index does not reach back as far as
   * `lines` would, so that some would be left out.
   */
  requireReach(range: Pick<DeliveryQuery, 'since' | 'until'>): Promise<void>;
  /** All matching lines of deliveries, page by page. Without `since` they reach back as far as the service keeps the results of jobs. */
  lines(query?: Omit<DeliveryQuery, 'limit' | 'cursor'>): AsyncGenerator<readonly LedgerLine[]>;
  /** Jobs whose last outcome is a failure. Rejects with `Problem` `request-invalid` for a foreign cursor. */
  openFailures(query: FailureQuery): Promise<FailurePage>;
  /** The number of failing jobs, and the one whose results the service drops first: from the index alone, also while the store fails. */
  failingNow(query: Pick<FailureQuery, 'scope' | 'givenUpBy'>): Promise<FailingNow>;
  /**
   * All failing jobs that match, for an act on them; those whose results the service drops first come first. Rejects with `Problem`
   * `conflict` when the index does not reach back as far.
   */
  allFailing(query: Omit<FailureQuery, 'limit' | 'cursor' | 'givenUpBy'>): Promise<FailingJobs>;
  /** Ids of the failing jobs that their results settle: a conflict is an operator's to decide. Reads the ledger before. */
  failingJobs(): Promise<ReadonlySet<string>>;
  /** Whether a line was ever in the index with this value. */
  holds(field: NamedField, value: string, scope?: SourceScope): Promise<boolean>;
  /** Ids of the jobs whose id contains a text, in whatever case, those with the newest lines first. */
  jobsByPart(query: Parameters<typeof findJobsByPart>[2]): Promise<readonly string[]>;
  /** The sources that a job has lines of in the index. */
  sourcesOfJob(job: string): Promise<readonly string[]>;
  /** Rejects with `Problem` `request-invalid` for bad instants and numbers. */
  summary(query?: SummaryQuery): Promise<LedgerSummary>;
  /** How the callbacks of the last hour and day fared. */
  callbacks(scope?: SourceScope): Promise<CallbackCounts>;
  status(): LedgerViewStatus;
  /** What the index had when the ledger was last read. */
  extent(): IndexExtent;
}

/** Milliseconds that an act waits for the index to be built. */
const PATIENCE = 2000;

const DAY = 24 * HOUR;
const GIBIBYTE = 2 ** 30;

export function createLedgerView(options: LedgerViewOptions): LedgerView {
  const { store, clock = Date.now, retention = 7 * DAY, pathFor = () => null } = options;
  const index = openIndexOfStore({
    ...{ store, clock, pathFor, retention, startIndex: options.startIndex },
    reach: options.reach ?? 30 * DAY,
    maxBytes: options.maxBytes ?? 2 * GIBIBYTE,
    onNewerLines: options.onNewerLines,
    onOpened: options.onOpened,
  });
  const schedule = createFillSchedule({ ...options, fill: index.fill, clock });
  const parts = { store, index };
  const counts = createPacedCounts(index, clock);
  let isStarted = false;

  async function readNew(): Promise<void> {
    await (isStarted ? schedule.refresh() : schedule.whole());
  }

  /** Why lines may be missing. */
  function faults({ missing }: IndexState): string[] {
    const { error, refreshedAt } = schedule.status();
    const since = refreshedAt === null ? '' : ` since ${iso(refreshedAt)}`;
    const unread = `deliveries${since}, because the ledger cannot be read: ${error}`;
    return [...missing.map(missingInWords), ...(error === null ? [] : [unread])];
  }

  function beginOf({ since, until }: Pick<DeliveryQuery, 'since' | 'until'>): number {
    return instantOf('since', since) ?? (instantOf('until', until) ?? clock()) - retention;
  }

  /** What is selected for an act must be all that matches. */
  async function requireReach(since: number): Promise<void> {
    if (!schedule.status().isWhole) await waitAtMost(PATIENCE, schedule.whole());
    const state = await index.call('state');
    if (state.until !== null && (state.since === null || state.since <= since)) return;
    const reached =
      state.until === null ? 'nothing yet' : `what was written from ${iso(state.since ?? since)} on`;
    throw new Problem(
      'conflict',
      `The index of the ledger has ${reached}, and the selection begins at ${iso(since)}: choose a later since, or wait until the index is built.`,
    );
  }

  function lookedAt(state: IndexState, now: number) {
    const from = Math.max(state.since ?? now - retention, now - retention);
    const unseen = from > now - retention ? [`deliveries before ${iso(from)}`] : [];
    const why = [...unseen, ...faults(state)];
    return { searchedBackTo: iso(from), complete: why.length === 0, faults: why };
  }

  async function search(query: DeliveryQuery) {
    const found = await findDeliveries(parts, query);
    const state = await index.call('state');
    return { ...found, faults: faults(state), index: extentOf(state) };
  }

  return {
    start() {
      isStarted = true;
      schedule.start();
    },
    async stop() {
      await index.close();
      await schedule.stop();
    },
    touch: schedule.touch,
    refresh: readNew,
    readPast: schedule.whole,
    search,
    async deliveries(query = {}) {
      const { entries, nextCursor, faults: found, index: extent } = await search(query);
      const last = entries.at(-1)?.place.written;
      return {
        deliveries: entries.map(({ line }) => line),
        nextCursor,
        complete: nextCursor === null && extent.since === null && found.length === 0,
        searchedBackTo: nextCursor === null || last === undefined ? extent.since : iso(last),
        faults: found,
        index: extent,
      };
    },
    requireReach: (range) => requireReach(beginOf(range)),
    lines: (query = {}) => allDeliveries(parts, { ...query, since: iso(beginOf(query)) }),
    async openFailures(query) {
      const now = clock();
      const found = await findOpenFailures(parts, query, { now, retention });
      const state = await index.call('state');
      return { ...found, ...lookedAt(state, now), index: extentOf(state) };
    },
    async failingNow(query) {
      const now = clock();
      const page = { ...query, limit: 1, since: now - retention, after: null };
      const { counts, jobs } = await index.call('failurePage', page);
      const failures = jobs.map(({ job, outcome, first }) => ({
        jobId: job,
        outcome,
        retentionEndsAt: iso(first + retention),
      }));
      return { counts, failures, ...lookedAt(await index.call('state'), now) };
    },
    async allFailing(query) {
      const since = Math.max(query.since ?? 0, clock() - retention);
      await requireReach(since);
      return index.call('failingJobs', { ...query, since });
    },
    async failingJobs() {
      await readNew();
      const query = { since: clock() - retention, without: 'conflict' };
      return new Set((await index.call('failingJobs', query)).jobs);
    },
    holds: (field, value, scope = null) => index.call('knowsName', field, value, scope),
    async jobsByPart(query) {
      const found = await index.call('findJobsByPart', query);
      return found.map(({ job }) => job);
    },
    sourcesOfJob: (job) => index.call('sourcesOfJob', job),
    async summary(query = {}) {
      const summary = await findSummary(index, query, clock());
      return { ...summary, index: extentOf(await index.call('state')) };
    },
    callbacks: (scope = null) => counts(scope),
    extent: () => extentOf(index.lastState() ?? { since: clock(), until: null, missing: [] }),
    status() {
      const { error, fault, condition, refreshedAt } = schedule.status();
      const state = index.lastState();
      const since = state?.since ?? null;
      const unread = (lines: (each: IndexState['missing'][number]) => number) => {
        const segments = (state?.missing ?? []).map((each) => ({ key: each.key, lines: lines(each) }));
        const withLines = segments.filter((each) => each.lines > 0);
        return { count: withLines.reduce((sum, each) => sum + each.lines, 0), segments: withLines };
      };
      return {
        state: state === null || state.until === null ? 'loading' : 'ready',
        place: index.place(),
        completeSince: since === null ? null : iso(since),
        rows: index.lines(),
        broken: unread(({ unreadable, newer }) => (unreadable ?? 0) - newer),
        newer: unread(({ newer }) => newer),
        refreshedAt: refreshedAt === null ? null : iso(refreshedAt),
        error,
        fault,
        condition,
      };
    },
  };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
