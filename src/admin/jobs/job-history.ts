import { isAccess, type LedgerLine } from '../../domain/delivery.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { LedgerView } from '../../index/ledger-view.js';

/** What the ledger holds of a job before the lines in memory, as far as it was searched. */
interface JobLines {
  /** In no order. */
  readonly lines: readonly LedgerLine[];
  /** ISO 8601: the ledger was searched back to then; null when all of it was. */
  readonly searchedBackTo: string | null;
  /** Files of the ledger that are damaged or missing, so that lines may be missing. */
  readonly faults: readonly string[];
}

/** What is known of a job besides the ledger. */
interface JobTraces {
  /** Instants after which lines were probably written, in milliseconds since the epoch: those minutes are searched first. */
  readonly storedAt: readonly number[];
  /** Whether anything is known: then the last 30 days are enough. */
  readonly isKnown: boolean;
  /** Lines of other sources do not make the job known: the time of an answer must not reveal it. */
  readonly scope: SourceScope;
}

/**
 * Searches the ledger for a job, some seconds at a time: the next call goes on where the last one ended, so that a
 * page that is open asks the store for nothing twice.
 */
export interface JobHistory {
  /** Rejects with `StoreError`; the next call goes on. */
  search(jobId: string, traces: JobTraces): Promise<JobLines>;
}

/** Jobs whose search is remembered, and for how many milliseconds: then lines that came late are found too. */
const MAX_JOBS = 100;
const KEPT = 5 * 60_000;
/**
 * Lines of a job, and as many accesses to its content. A sender that repeats a callback for days causes more, and
 * `GET deliveries` lists those.
 */
const MAX_LINES = 500;
const MINUTE = 60_000;
/** A line is written after what it records is stored, by the store's own clock. */
const LIKELY = { before: MINUTE, after: 5 * MINUTE };
const MAX_RANGES = 24;
const BEGIN = '1970-01-01T00:00:00.000Z';
const USUAL_DAYS = 30 * 24 * 60 * MINUTE;

interface Search {
  readonly begunAt: number;
  readonly lines: Map<string, LedgerLine>;
  readonly accesses: Map<string, LedgerLine>;
  /** Instants around which it was searched. */
  readonly instants: Set<number>;
  readonly faults: Set<string>;
  cursor: string | null | undefined;
  searchedBackTo: string | null;
  running: Promise<void> | null;
}

export function createJobHistory(
  view: Pick<LedgerView, 'deliveries'>,
  clock: () => number = Date.now,
): JobHistory {
  const searches = new Map<string, Search>();

  function searchFor(jobId: string): Search {
    const known = searches.get(jobId);
    if (known && clock() - known.begunAt < KEPT) return known;
    const begun: Search = {
      begunAt: clock(),
      lines: new Map(),
      accesses: new Map(),
      instants: new Set(),
      faults: new Set(),
      cursor: undefined,
      searchedBackTo: new Date(clock()).toISOString(),
      running: null,
    };
    searches.delete(jobId);
    searches.set(jobId, begun);
    const oldest = searches.keys().next();
    if (searches.size > MAX_JOBS && !oldest.done) searches.delete(oldest.value);
    return begun;
  }

  async function searchLikely(jobId: string, one: Search, storedAt: readonly number[]): Promise<void> {
    const likely = storedAt.filter((time) => isUnseen(one, time) && !one.instants.has(time));
    for (const time of likely.slice(0, MAX_RANGES)) {
      const range = { since: iso(time - LIKELY.before), until: iso(time + LIKELY.after) };
      const query = { job: jobId, limit: MAX_LINES, without: 'accesses', ...range } as const;
      const page = await view.deliveries(query);
      add(one, page);
      if (page.nextCursor !== null) return;
      one.instants.add(time);
    }
  }

  async function searchOn(jobId: string, one: Search, traces: JobTraces): Promise<void> {
    if (one.cursor === null || one.lines.size >= MAX_LINES) return;
    const { cursor } = one;
    const isKnown =
      traces.isKnown ||
      [...one.lines.values(), ...one.accesses.values()].some(({ source }) => isInScope(traces.scope, source));
    const since = isKnown ? iso(one.begunAt - USUAL_DAYS) : BEGIN;
    if ((one.searchedBackTo ?? '') <= since) return;
    const query = { job: jobId, limit: MAX_LINES, since };
    const page = await view.deliveries(cursor === undefined ? query : { ...query, cursor });
    add(one, page);
    one.searchedBackTo = page.searchedBackTo;
    // The end of the last 30 days is not the end of the ledger.
    if (page.nextCursor !== null || one.searchedBackTo === null) one.cursor = page.nextCursor;
  }

  return {
    async search(jobId, traces) {
      const one = searchFor(jobId);
      one.running ??= searchLikely(jobId, one, traces.storedAt)
        .then(() => searchOn(jobId, one, traces))
        .finally(() => {
          one.running = null;
        });
      await one.running;
      const { lines, accesses, searchedBackTo, faults } = one;
      return { lines: [...lines.values(), ...accesses.values()], searchedBackTo, faults: [...faults] };
    },
  };
}

/** Tells the lines of a job apart. */
export function lineIdentity({ deliveryId, outcome, receivedAt }: LedgerLine): string {
  return `${receivedAt} ${deliveryId} ${outcome}`;
}

type FoundLines = Pick<Awaited<ReturnType<LedgerView['deliveries']>>, 'deliveries' | 'faults'>;

function add({ lines, accesses, faults }: Search, found: FoundLines): void {
  for (const line of found.deliveries) {
    if (!isAccess(line)) lines.set(lineIdentity(line), line);
    else if (accesses.size < MAX_LINES) accesses.set(lineIdentity(line), line);
  }
  for (const fault of found.faults) faults.add(fault);
}

function isUnseen({ searchedBackTo }: Search, time: number): boolean {
  return searchedBackTo !== null && time < Date.parse(searchedBackTo) + LIKELY.after;
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
