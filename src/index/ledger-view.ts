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
import { type Ask, answerAsks } from './beside/asks.js';
import { type BodiesQuery, type FoundBodies, listBodies } from './bodies/list-bodies.js';
import { FillSchedule } from './fill/fill-schedule.js';
import { openIndexOfStore, type StartIndex } from './fill/open-index-of-store.js';
import { beginOf, extentOf, type IndexExtent, notIndexedInWords, without } from './index-extent.js';
import type { IndexFiles, IndexPlace } from './open-index.js';
import type { MissedQuery } from './queries/failure-page.js';
import type { IndexedMatch, JobSearch } from './queries/match-jobs.js';
import { allDeliveries, type DeliveryQuery, findDeliveries } from './questions/find-deliveries.js';
import { type FailureQuery, type FoundFailures, findOpenFailures } from './questions/find-open-failures.js';
import { createCallbackCounts } from './questions/paced-counts.js';
import { viewStatus } from './questions/view-status.js';
import { createSentQuestions } from './sent/sent-questions.js';

export interface LedgerViewOptions {
  readonly store: ObjectStore;
  /** Where the index of a store is, by the id of the store. Default: in memory. */
  readonly filesFor?: ((storeId: string) => IndexFiles) | undefined;
  /** Default: in a worker. */
  readonly startIndex?: StartIndex | undefined;
  /** How far back the index reaches, in milliseconds. Default 30 days. */
  readonly reach?: number | undefined;
  /** How long the service keeps a job's results, in milliseconds. Default 7 days. */
  readonly retention?: number | undefined;
  /** Bytes of the index, of one in memory 64 MiB at most. Default 2 GiB. */
  readonly maxBytes?: number | undefined;
  /** Names of subscribers; others are found in the store. */
  readonly subscribers?: readonly string[] | undefined;
  /** Called when the index was opened, and again when its worker had to be started again. */
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
  /** When the callback of the job that is open for longest was received, or expected (ISO 8601). */
  readonly since: string | null;
  /** When the service next deletes results that can still be fetched; null when there are none. */
  readonly nextEnd: string | null;
}

export interface FailurePage extends FoundFailures {
  /** ISO 8601: failures from then on were asked for, at most as old as what the service keeps. */
  readonly since: string;
  readonly index: IndexExtent;
}

export type LedgerView = ReturnType<typeof createLedgerView>;

/** Milliseconds that an act waits for the index to be built. */
const PATIENCE = 2000;

const OTHER_TIME = 'Choose a time that it has, or wait until it has them.';

const DAY = 24 * HOUR;
const GIBIBYTE = 2 ** 30;

/** What the ledger of all replicas says, by its index. Questions reject with `StoreError` and `IndexError`. */
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
  let asks: ReturnType<typeof answerAsks> | null = null;

  function onOpened(place: IndexPlace, isShared: boolean): void {
    options.onOpened?.(place);
    asks?.stop();
    asks = place.path === null || isShared ? null : answerAsks(place.path, answer);
  }

  /** Does what a command beside this process asks. */
  async function answer(ask: Ask): Promise<void> {
    index.relist();
    schedule.touch();
    await (ask === 'new' ? schedule.refresh() : schedule.whole());
  }

  async function readNew(): Promise<void> {
    await (isStarted ? schedule.refresh() : schedule.whole());
  }

  function beginOfRange({ since, until }: Pick<DeliveryQuery, 'since' | 'until'>): number {
    return instantOf('since', since) ?? (instantOf('until', until) ?? clock()) - retention;
  }

  /** What is selected for an act must be all that matches. */
  async function requireReach(since: number, until = clock()): Promise<void> {
    if (!schedule.status().isWhole) await waitAtMost(PATIENCE, schedule.whole());
    const reach = { ...(await extentNow()), missing: [] };
    const lacking = notIndexedInWords(reach, { since, until: Math.min(until, clock()) });
    if (lacking !== null) throw new Problem('conflict', `${lacking} ${OTHER_TIME}`);
  }

  const extent = () => extentOf(index.lastState() ?? { since: clock(), until: null, missing: [] });
  const extentNow = async () => extentOf(await index.call('state'));

  return {
    /** Begins to fill the index and to follow the ledger. */
    start(): void {
      isStarted = true;
      schedule.start();
    },
    /** Ends it, and the worker of the index. */
    async stop(): Promise<void> {
      asks?.stop();
      await index.close();
      await schedule.stop();
    },
    /** Somebody looks: the ledger is read at the fast interval for the next minute. */
    touch: () => schedule.touch(),
    /** Takes what was written before; until `start` was called all that the index is to have. */
    refresh: readNew,
    /** Settles when everything that the index is to have is in. */
    readPast: () => schedule.whole(),
    /**
     * Waits for an index that is being built, where it does not reach back to an instant. Resolves to when it begins then. In milliseconds
     * since the epoch.
     */
    async reachBack(since: number): Promise<number> {
      if (beginOf(extent()) > since) await schedule.whole();
      return beginOf(extent());
    },
    /** Settles when the index is open: a program that is removed or replaced from then on is not missed. */
    opened: index.opened,
    /** As `deliveries`, with the places of the lines. */
    search: (query: DeliveryQuery) => findDeliveries(parts, query),
    /** Newest first. Rejects with `Problem` `request-invalid` for bad filters and cursors. */
    async deliveries(query: DeliveryQuery = {}): Promise<DeliveryPage> {
      const { entries, nextCursor, unread } = await findDeliveries(parts, query);
      return {
        deliveries: entries.map(({ line }) => line),
        nextCursor,
        index: without(await extentNow(), unread),
      };
    },
    /**
     * To be called before an act on a selection of lines: rejects with `Problem` `conflict` when the index does not reach as far as `lines`
     * would, back or to the end, so that some would be left out.
     */
    requireReach: (range: Pick<DeliveryQuery, 'since' | 'until'>) =>
      requireReach(beginOfRange(range), instantOf('until', range.until)),
    /** All matching lines of deliveries, page by page. Without `since` they reach back as far as the service keeps the results of jobs. */
    lines: (query: Omit<DeliveryQuery, 'limit' | 'cursor'> = {}) =>
      allDeliveries(parts, { ...query, since: writeInstant(beginOfRange(query)) }),
    /** Jobs whose last outcome is a failure. Rejects with `Problem` `request-invalid` for a foreign cursor. */
    async openFailures(query: FailureQuery): Promise<FailurePage> {
      const kept = clock() - retention;
      const since = Math.max(query.since ?? kept, kept);
      const { unread, ...found } = await findOpenFailures(parts, { ...query, since }, retention);
      return { ...found, since: writeInstant(since), index: without(await extentNow(), unread) };
    },
    /** The number of failing jobs, and the one whose results the service drops first: from the index alone, also while the store fails. */
    async failingNow(query: Pick<FailureQuery, 'scope' | 'givenUpBy'>): Promise<FailingNow> {
      const kept = clock() - retention;
      const page = { ...query, limit: 1, since: kept };
      const [{ counts, jobs }, [fetchable]] = await Promise.all([
        index.call('failurePage', { ...page, after: null }),
        // What has ended is no longer at the service.
        index.call('findFailures', { ...page, outcome: FETCHABLE, after: [kept, ''] }),
      ]);
      const [oldest] = jobs;
      return {
        counts,
        since: oldest === undefined ? null : writeInstant(oldest.first),
        nextEnd: fetchable === undefined ? null : writeInstant(fetchable.first + retention),
        index: await extentNow(),
      };
    },
    /**
     * All failing jobs that match, for an act on them; those whose results the service drops first come first. Rejects with `Problem`
     * `conflict` when the index does not reach back as far.
     */
    async allFailing(query: Omit<FailureQuery, 'limit' | 'cursor' | 'givenUpBy'>) {
      const since = Math.max(query.since ?? 0, clock() - retention);
      await requireReach(since);
      return index.call('failingJobs', { ...query, since });
    },
    /** Quarantined bodies, newest first. Rejects with `Problem` `request-invalid` for a foreign cursor. */
    async bodies(query: BodiesQuery): Promise<BodyPage> {
      const { unread, ...found } = await listBodies(parts, query);
      return { ...found, index: without(await extentNow(), unread) };
    },
    /** From the index alone, also while the store fails. @param since in milliseconds since the epoch: of the bodies received since */
    bodyFigures: (since: number) => index.call('countBodies', since),
    /** Ids of the failing jobs that their results settle. Reads the ledger before. */
    async failingJobs(): Promise<ReadonlySet<string>> {
      await readNew();
      const query = { since: clock() - retention, outcome: SETTLED_BY_RESULTS };
      return new Set((await index.call('failingJobs', query)).jobs);
    },
    /** What the ledger has of jobs that a reconcile missed: from the index alone. */
    missedJobs: (query: MissedQuery) => index.call('missedJobs', query),
    /** Whether a line that was written since, in milliseconds since the epoch, says that an operator erased the job. */
    async hasErased(job: string, since: number): Promise<boolean> {
      return (await index.call('findLines', { job, outcome: 'erased', since, limit: 1 })).length > 0;
    },
    /** Whether a line was ever in the index with this value. */
    holds: (field: NamedFilter | 'context', value: string, scope: SourceScope = null) =>
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
    /** What was sent to subscribers. */
    sent: createSentQuestions(index, clock),
    /** The sources that a job has lines of in the index. */
    sourcesOfJob: (job: string) => index.call('findSources', job),
    /** What `findSummary` asks: most commands need no figures. */
    asked: index,
    /** How the callbacks of the last hour and day fared. */
    callbacks: (scope: SourceScope = null) => counts(scope),
    /** What the index had when the ledger was last read. */
    extent,
    status: () =>
      viewStatus(index.lastState(), schedule.status(), { place: index.place(), rows: index.lines() }),
  };
}
