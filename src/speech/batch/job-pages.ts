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
  /**
   * Set, in milliseconds, on the last page of a list that was so far from newest first that jobs may be hidden: a page may then
   * begin with older jobs than the ones it leaves out.
   */
  readonly disorder: number | null;
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

const LARGEST_PAGE = 100;
const NOT_BEFORE_TOLERANCE_MS = 1_000;

/**
 * Clocks of the front ends of one service differ, and a job that is newer than its place could lie behind the border of a page that
 * descends by itself. So pages always overlap by a tenth of what they span, which costs a tenth more requests, and by this at most.
 */
const USUAL_OVERLAP_MS = 300_000;
/** The disorder that is seen is a sample of what there is. */
const OVERLAP_BY_DISORDER = 2;
/** How often a list is walked again because its disorder turned out larger than the overlap of earlier pages. */
const MAX_WALKS = 3;

interface Walk {
  /** By how much a job was newer than one before it, at most; milliseconds. 0 for a list that descends. */
  readonly disorder: number;
  /** Jobs may be hidden. */
  readonly doubt: 'none' | 'overlaps-too-small' | 'overlap-holds-a-page';
}

/**
 * Walks the list from new to old. `created_before` is all there is to page by, so the list is believed only as far as it
 * descends: pages overlap by twice the disorder that was seen, and where the disorder turns out larger than earlier overlaps the
 * list is walked again. Where that does not help, the last page says so. Ids are compared, so that no job comes twice, whether or
 * not `created_before` includes equal times, however small the server makes its pages and however often it repeats an entry.
 */
export async function* walkJobs(fetch: FetchPage, options: WalkOptions): AsyncGenerator<JobPage> {
  const seen = createRecentIds();
  let overlap = 0;
  for (let walks = 1; ; walks += 1) {
    const { disorder, doubt } = yield* walkOnce(fetch, options, seen, overlap);
    if (doubt === 'none') return;
    if (doubt === 'overlap-holds-a-page' || walks === MAX_WALKS || seen.hasForgotten()) {
      yield { jobs: [], malformed: 0, gapAt: null, disorder };
      return;
    }
    overlap = OVERLAP_BY_DISORDER * disorder;
  }
}

async function* walkOnce(
  fetch: FetchPage,
  options: WalkOptions,
  seen: RecentIds,
  leastOverlap: number,
): AsyncGenerator<JobPage, Walk> {
  const since = options.since ?? Number.NEGATIVE_INFINITY;
  let cursor = options.before;
  let limit = options.limit;
  let oldest = Number.POSITIVE_INFINITY;
  let largest = 0;
  let disorder = 0;
  let smallestOverlap = Number.POSITIVE_INFINITY;
  let isHidden = false;
  let mayBeHidden = false;
  /** Where pages begin, relative to the oldest job seen, until one brings something new; the first is behind us. */
  let steps: number[] = [];
  let step = 0;
  const end = (): Walk => {
    if (isHidden) return { disorder, doubt: 'overlap-holds-a-page' };
    return { disorder, doubt: disorder > smallestOverlap ? 'overlaps-too-small' : 'none' };
  };
  for (;;) {
    const list = await fetch(cursor === null ? null : new Date(cursor).toISOString(), limit);
    const entries = list.jobs.length + list.malformed;
    if (entries === 0) return end();
    if (list.jobs.length === 0) throw invalid(`none of ${entries} entries is a job record`);
    const fresh = withoutRepeats(list.jobs).filter(({ id }) => !seen.has(id));
    const stuck = fresh.length === 0 && entries >= limit;
    if (stuck && cursor !== null) checkHonoured(list, cursor);
    if (stuck && limit < LARGEST_PAGE) {
      limit = LARGEST_PAGE;
      continue;
    }
    disorder = Math.max(disorder, disorderOf(list.jobs), ...fresh.map((job) => createdMs(job) - oldest));
    if (fresh.length === 0 && disorder > 0 && (steps[step] ?? 0) > 1) {
      isHidden ||= stuck;
      mayBeHidden = true;
    } else if (fresh.length > 0 && mayBeHidden) isHidden = true;
    for (const { id } of fresh) seen.add(id);
    yield {
      jobs: fresh.filter((job) => createdMs(job) >= since),
      malformed: fresh.length > 0 ? list.malformed : 0,
      gapAt: stuck && steps[step] === 1 ? isoOf(oldest) : null,
      disorder: null,
    };
    oldest = Math.min(oldest, ...list.jobs.map(createdMs));
    const overlap = Math.max(leastOverlap, OVERLAP_BY_DISORDER * disorder, usualOverlap(list.jobs));
    // Nothing new on a page smaller than others: only the overlap is left.
    if (oldest + overlap < since || (fresh.length === 0 && entries < largest)) return end();
    if (fresh.length > 0) {
      steps = stepsWith(overlap);
      step = 0;
      smallestOverlap = Math.min(smallestOverlap, overlap);
    } else step += 1;
    const offset = steps[step];
    if (offset === undefined) return end();
    cursor = oldest + offset;
    largest = limit === options.limit ? Math.max(largest, entries) : largest;
    limit = options.limit;
  }
}

/**
 * One millisecond later than the oldest job and the overlap, because several jobs may share its millisecond and
 * `created_before` leaves equal times out; when that brings nothing new, without the overlap, at its time, then before it, in case a
 * server counts equal times in.
 */
function stepsWith(overlap: number): number[] {
  return overlap === 0 ? [1, 0, -1] : [1 + overlap, 1, 0, -1];
}

/** By how much a job of the page is newer than one before it, at most. */
function disorderOf(jobs: readonly JobRecord[]): number {
  let oldest = Number.POSITIVE_INFINITY;
  let disorder = 0;
  for (const created of jobs.map(createdMs)) {
    disorder = Math.max(disorder, created - oldest);
    oldest = Math.min(oldest, created);
  }
  return disorder;
}

function usualOverlap(jobs: readonly JobRecord[]): number {
  const times = jobs.map(createdMs);
  return Math.min(USUAL_OVERLAP_MS, Math.ceil((Math.max(...times) - Math.min(...times)) / 10));
}

function withoutRepeats(jobs: readonly JobRecord[]): JobRecord[] {
  return [...new Map(jobs.map((job) => [job.id, job])).values()];
}

/** Pages overlap at their borders only: the ids of the last pages are enough, however long the list is. */
const RECENT_IDS = 10_000;

interface RecentIds {
  has(id: string): boolean;
  add(id: string): void;
  /** Whether ids were dropped, so that a second walk would bring their jobs again. */
  hasForgotten(): boolean;
}

function createRecentIds(): RecentIds {
  let recent = new Set<string>();
  let earlier = new Set<string>();
  let forgotten = false;
  return {
    has: (id) => recent.has(id) || earlier.has(id),
    add(id) {
      if (recent.size === RECENT_IDS) {
        forgotten ||= earlier.size > 0;
        [recent, earlier] = [new Set(), recent];
      }
      recent.add(id);
    },
    hasForgotten: () => forgotten,
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
