import type { LedgerLine } from '../domain/delivery.js';
import { FETCHABLE } from '../domain/failure-causes.js';
import { SETTLED_BY_RESULTS } from '../domain/failure-rules.js';
import type { NamedFilter } from '../domain/line-filters.js';
import { Problem } from '../domain/problem.js';
import type { SourceScope } from '../domain/rights.js';
import { HOUR } from '../ledger/hours.js';
import { readLinesAt } from '../ledger/log/read-lines-at.js';
import { waitAtMost } from '../lib/time/deadline.js';
import { instantOf, writeInstant } from '../lib/time/instant.js';
import type { ObjectStore } from '../store/object-store.js';
import { type BodiesQuery, type FoundBodies, listBodies } from './bodies/list-bodies.js';
import { FillSchedule, type FillStatus } from './fill/fill-schedule.js';
import { openIndexOfStore, type StartIndex } from './fill/open-index-of-store.js';
import { extentOf, extentStart, type IndexExtent, notIndexedInWords, withUnread } from './index-extent.js';
import type { IndexFiles, IndexPlace } from './open-index.js';
import type { MissedJobs, MissedQuery } from './queries/failure-page.js';
import type { IndexedMatch, JobSearch } from './queries/match-jobs.js';
import { createCallbackCounts } from './questions/cached-counts.js';
import { allDeliveries, type DeliveryQuery, findDeliveries } from './questions/find-deliveries.js';
import { type FailureQuery, type FoundFailures, findOpenFailures } from './questions/find-open-failures.js';
import { createSentQuestions } from './sent/sent-questions.js';
import { type FillRequest, serveFillRequests } from './shared/fill-requests.js';

export interface LedgerViewOptions {
  readonly store: ObjectStore;
  /** Paths of the index of a store, by the id of the store. Default: in memory. */
  readonly filesFor?: ((storeId: string) => IndexFiles) | undefined;
  /** Default: in a worker. */
  readonly startIndex?: StartIndex | undefined;
  /** How far back the index reaches, in milliseconds. Default 30 days. */
  readonly reach?: number | undefined;
  /** How long the service keeps a job's results, in milliseconds. Default 7 days. */
  readonly retention?: number | undefined;
  /** Target size of the index in bytes; in memory at most 64 MiB. Default 2 GiB. */
  readonly maxBytes?: number | undefined;
  /** Names of subscribers; others are found in the store. */
  readonly subscribers?: readonly string[] | undefined;
  /** Called when the index was opened, and again after its worker was restarted. */
  readonly onOpened?: ((place: IndexPlace) => void) | undefined;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

export interface DeliveryPage {
  readonly deliveries: readonly LedgerLine[];
  readonly nextCursor: string | null;
  readonly index: IndexExtent;
}

export interface BodyPage extends Omit<FoundBodies, 'unread'> {
  readonly index: IndexExtent;
}

export interface FoundJob extends Pick<IndexedMatch, 'by'> {
  readonly line: LedgerLine;
}

export interface FailingNow extends Pick<FailurePage, 'counts' | 'index'> {
  /** When the callback of the job that has failed for longest was received, or expected (ISO 8601). */
  readonly since: string | null;
  /** When the service next deletes results of a failing job; null when none can be fetched. */
  readonly nextEnd: string | null;
}

export interface FailurePage extends FoundFailures {
  /** ISO 8601: start of the searched time, not before the oldest results that the service keeps. */
  readonly since: string;
  readonly index: IndexExtent;
}

export interface LedgerViewStatus extends FillStatus {
  readonly state: 'loading' | 'ready';
  /** Location of the index; null before it was opened. */
  readonly place: IndexPlace | null;
  /** Number of lines in the index. */
  readonly rows: number;
}

export type LedgerView = ReturnType<typeof createLedgerView>;

/** Milliseconds that an action waits for the index to be built. */
const PATIENCE = 2000;

const OTHER_TIME = 'Choose a time that it has, or wait until it has them.';

const DAY = 24 * HOUR;
const GIBIBYTE = 2 ** 30;

/** Answers questions about the ledger of all replicas from its index. They reject with `StoreError` and `IndexError`. */
export function createLedgerView(options: LedgerViewOptions) {
  const { store, clock = Date.now, retention = 7 * DAY, filesFor = () => ({ path: null }) } = options;
  const index = openIndexOfStore({
    store,
    clock,
    filesFor,
    retention,
    startIndex: options.startIndex,
    reach: options.reach ?? 30 * DAY,
    maxBytes: options.maxBytes ?? 2 * GIBIBYTE,
    subscribers: options.subscribers,
    onOpened,
  });
  const schedule = new FillSchedule(index, clock);
  const parts = { store, index };
  const counts = createCallbackCounts(index, clock);
  let isStarted = false;
  let requestServer: ReturnType<typeof serveFillRequests> | null = null;

  function onOpened(place: IndexPlace, isShared: boolean): void {
    options.onOpened?.(place);
    requestServer?.stop();
    requestServer = place.path === null || isShared ? null : serveFillRequests(place.path, answer);
  }

  /** Serves the request of a command that uses this process's index. */
  async function answer(request: FillRequest): Promise<void> {
    index.relist();
    schedule.touch();
    await (request === 'new' ? schedule.refresh() : schedule.untilComplete());
  }

  async function readNew(): Promise<void> {
    await (isStarted ? schedule.refresh() : schedule.untilComplete());
  }

  function beginOfRange({ since, until }: Pick<DeliveryQuery, 'since' | 'until'>): number {
    return instantOf('since', since) ?? (instantOf('until', until) ?? clock()) - retention;
  }

  /** Throws unless the index covers the time range: an action on a selection must include everything that matches. */
  async function requireReach(since: number, until = clock()): Promise<void> {
    if (!schedule.isComplete()) await waitAtMost(PATIENCE, schedule.untilComplete());
    const reach = { ...(await extentNow()), missing: [] };
    const lacking = notIndexedInWords(reach, { since, until: Math.min(until, clock()) });
    if (lacking !== null) throw new Problem('conflict', `${lacking} ${OTHER_TIME}`);
  }

  const extent = () => extentOf(index.lastState() ?? { since: clock(), until: null, missing: [] });
  /** Asked before a question: what is indexed while an answer is put together, it may lack. */
  const extentNow = async () => extentOf(await index.call('state'));

  return {
    /** Starts to fill the index and to follow the ledger. */
    start(): void {
      isStarted = true;
      schedule.start();
    },
    /** Ends that, and the worker of the index. */
    async stop(): Promise<void> {
      requestServer?.stop();
      await index.close();
      await schedule.stop();
    },
    /** Reads the ledger at the fast interval for the next minute. */
    touch: () => schedule.touch(),
    /** Adds lines written before the call; before `start`, fills the index completely. */
    refresh: readNew,
    /** Resolves when the index is complete. */
    untilComplete: () => schedule.untilComplete(),
    /**
     * Waits for an index that is being built, unless it already reaches back to `since`. Resolves to the start of the index. Both are
     * milliseconds since the epoch.
     */
    async reachBack(since: number): Promise<number> {
      if (extentStart(extent()) > since) await schedule.untilComplete();
      return extentStart(extent());
    },
    /** Resolves when the index is open. From then on it does not matter when the program's files are removed or replaced. */
    opened: index.opened,
    /** Like `deliveries`, with the places of the lines. */
    search: (query: DeliveryQuery) => findDeliveries(parts, query),
    /** Newest first. Rejects with `Problem` `request-invalid` for bad filters and cursors. */
    async deliveries(query: DeliveryQuery = {}): Promise<DeliveryPage> {
      const before = await extentNow();
      const { entries, nextCursor, unread } = await findDeliveries(parts, query);
      return {
        deliveries: entries.map(({ line }) => line),
        nextCursor,
        index: withUnread(before, unread),
      };
    },
    /**
     * Call it before an action on a selection of lines. Rejects with `Problem` `conflict` when the index does not cover the range of
     * `lines`, so that some would be left out.
     */
    requireReach: (range: Pick<DeliveryQuery, 'since' | 'until'>) =>
      requireReach(beginOfRange(range), instantOf('until', range.until)),
    /** All matching lines of deliveries, page by page. Default of `since`: as far back as the service keeps results. */
    lines: (query: Omit<DeliveryQuery, 'limit' | 'cursor'> = {}) =>
      allDeliveries(parts, { ...query, since: writeInstant(beginOfRange(query)) }),
    /** Jobs whose last outcome is a failure. Rejects with `Problem` `request-invalid` for a foreign cursor. */
    async openFailures(query: FailureQuery): Promise<FailurePage> {
      const kept = clock() - retention;
      const since = Math.max(query.since ?? kept, kept);
      const before = await extentNow();
      const { unread, ...found } = await findOpenFailures(parts, { ...query, since }, retention);
      return { ...found, since: writeInstant(since), index: withUnread(before, unread) };
    },
    /** Number of failing jobs, and the next deletion of results by the service. Reads only the index: it works while the store fails. */
    async failingNow(query: Pick<FailureQuery, 'scope' | 'givenUpBy'>): Promise<FailingNow> {
      const kept = clock() - retention;
      const page = { ...query, limit: 1, since: kept };
      const before = await extentNow();
      const [{ counts, jobs }, [fetchable]] = await Promise.all([
        index.call('failurePage', { ...page, after: null }),
        // Results that have expired are no longer at the service.
        index.call('findFailures', { ...page, outcome: FETCHABLE, after: [kept, ''] }),
      ]);
      const [oldest] = jobs;
      return {
        counts,
        since: oldest === undefined ? null : writeInstant(oldest.first),
        nextEnd: fetchable === undefined ? null : writeInstant(fetchable.first + retention),
        index: before,
      };
    },
    /**
     * All failing jobs that match, for an action on them; those whose results the service deletes first come first. Rejects with `Problem`
     * `conflict` when the index does not reach back far enough.
     */
    async allFailing(query: Omit<FailureQuery, 'limit' | 'cursor' | 'givenUpBy'>) {
      const since = Math.max(query.since ?? 0, clock() - retention);
      await requireReach(since);
      return index.call('failingJobs', { ...query, since });
    },
    /** Quarantined bodies, newest first. Rejects with `Problem` `request-invalid` for a foreign cursor. */
    async bodies(query: BodiesQuery): Promise<BodyPage> {
      const before = await extentNow();
      const { unread, ...found } = await listBodies(parts, query);
      return { ...found, index: withUnread(before, unread) };
    },
    /** Reads only the index, so that it works while the store fails. @param since as in `countBodies` */
    bodyFigures: (since: number) => index.call('countBodies', since),
    /** Ids of the failing jobs that their results would settle. Reads the ledger first. */
    async failingJobs(): Promise<ReadonlySet<string>> {
      await readNew();
      const query = { since: clock() - retention, outcome: SETTLED_BY_RESULTS };
      return new Set((await index.call('failingJobs', query)).jobs);
    },
    /** What the ledger says of jobs that a reconcile missed. Reads the ledger first if it can: its lines are older than the report. */
    async missedJobs(query: MissedQuery): Promise<MissedJobs> {
      await readNew().catch(() => undefined);
      return index.call('missedJobs', query);
    },
    /** Whether an operator erased the job since then. @param since milliseconds since the epoch */
    async hasErased(job: string, since: number): Promise<boolean> {
      return (await index.call('findLines', { job, outcome: 'erased', since, limit: 1 })).length > 0;
    },
    /** Whether the index ever had a line with this value. */
    knowsName: (field: NamedFilter | 'context', value: string, scope: SourceScope = null) =>
      index.call('knowsName', field, value, scope),
    /** The newest line of each job that matches. */
    async matchJobs(query: JobSearch): Promise<readonly FoundJob[]> {
      const found = await index.call('matchJobs', query);
      const { lines } = await readLinesAt(
        store,
        found.map(({ place }) => place),
      );
      return found.flatMap(({ by }, at) => (lines[at] ? [{ by, line: lines[at] }] : []));
    },
    /** Events that were sent to subscribers. */
    sent: createSentQuestions(index, clock),
    /** The sources of a job's lines in the index. */
    sourcesOfJob: (job: string) => index.call('findSources', job),
    /** Calls of the index, for `findSummary`, which most commands do not load. */
    calls: index,
    /** Accepted, refused and missed callbacks of the last hour and day. */
    callbacks: (scope: SourceScope = null) => counts(scope),
    /** The extent of the index when the ledger was last read. */
    extent,
    extentNow,
    status: (): LedgerViewStatus => ({
      state: (index.lastState()?.until ?? null) === null ? 'loading' : 'ready',
      place: index.place(),
      rows: index.lines(),
      ...schedule.status(),
    }),
  };
}
