import { SpeechError } from '../speech-error.js';
import type { JobRecord } from '../wire.js';
import type { JobList } from './job-shapes.js';

/** One page of the job list, without jobs of earlier pages. */
export interface JobPage {
  /** Newest first. */
  readonly jobs: readonly JobRecord[];
  /** Entries of this page that are no job records: something may be missing. */
  readonly malformed: number;
  /**
   * Set when a full page was created in this one millisecond, so that the list cannot tell whether there
   * were more; the walk went on with older jobs.
   */
  readonly gapAt: string | null;
}

/** Asks for at most `limit` jobs, newest first, created before a time. */
export type FetchPage = (createdBefore: string | null, limit: number) => Promise<JobList>;

export interface WalkOptions {
  /** 1 to 100. */
  readonly limit: number;
  /** Starts with jobs created before this; milliseconds since the epoch. */
  readonly before: number | null;
  /** Ends with jobs created before this. */
  readonly since: number | null;
}

/**
 * Where the next page begins, relative to the oldest job seen. One millisecond later than that job, because
 * several may share its millisecond and `created_before` leaves equal times out; when that brings nothing
 * new, at its time, then before it, in case a server counts equal times in.
 */
const STEPS_MS = [1, 0, -1] as const;

const LARGEST_PAGE = 100;
const NOT_BEFORE_TOLERANCE_MS = 1_000;

/**
 * Walks the list from new to old. Pages overlap and ids are compared, so that no job at a border is lost and
 * none comes twice, whether or not `created_before` includes equal times and however small the server makes
 * its pages.
 */
export async function* walkJobs(fetch: FetchPage, options: WalkOptions): AsyncGenerator<JobPage> {
  const since = options.since ?? Number.NEGATIVE_INFINITY;
  const seen = createRecentIds();
  let cursor = options.before;
  let limit = options.limit;
  let oldest = Number.POSITIVE_INFINITY;
  let largest = 0;
  let step = 0;
  for (;;) {
    const list = await fetch(cursor === null ? null : new Date(cursor).toISOString(), limit);
    const entries = list.jobs.length + list.malformed;
    if (entries === 0) return;
    if (list.jobs.length === 0) throw invalid(`none of ${entries} entries is a job record`);
    const fresh = list.jobs.filter(({ id }) => !seen.has(id));
    const stuck = fresh.length === 0 && entries >= limit;
    if (stuck && cursor !== null) checkHonoured(list, cursor);
    if (stuck && limit < LARGEST_PAGE) {
      limit = LARGEST_PAGE;
      continue;
    }
    for (const { id } of fresh) seen.add(id);
    yield {
      jobs: fresh.filter((job) => createdMs(job) >= since),
      malformed: fresh.length > 0 ? list.malformed : 0,
      gapAt: stuck && step === 0 ? isoOf(oldest) : null,
    };
    oldest = Math.min(oldest, ...list.jobs.map(createdMs));
    // Nothing new on a page smaller than others: only the overlap is left.
    if (oldest < since || (fresh.length === 0 && entries < largest)) return;
    step = fresh.length === 0 ? step + 1 : 0;
    const offset = STEPS_MS[step];
    if (offset === undefined) return;
    cursor = oldest + offset;
    largest = limit === options.limit ? Math.max(largest, entries) : largest;
    limit = options.limit;
  }
}

/** Pages overlap at their borders only: the ids of the last pages are enough, however long the list is. */
const RECENT_IDS = 10_000;

function createRecentIds(): { has(id: string): boolean; add(id: string): void } {
  let recent = new Set<string>();
  let earlier = new Set<string>();
  return {
    has: (id) => recent.has(id) || earlier.has(id),
    add(id) {
      if (recent.size === RECENT_IDS) [recent, earlier] = [new Set(), recent];
      recent.add(id);
    },
  };
}

/** A server that ignores `created_before` sends the same page for ever: better an error than half a list. */
function checkHonoured(list: JobList, cursor: number): void {
  const newest = Math.max(...list.jobs.map(createdMs));
  if (newest > cursor + NOT_BEFORE_TOLERANCE_MS) throw invalid('created_before is not honoured');
}

function invalid(text: string): SpeechError {
  return new SpeechError('invalid-response', 'list jobs', `the list is malformed: ${text}`);
}

function createdMs(job: JobRecord): number {
  return Date.parse(job.created_at);
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
