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
   * Set when all jobs of a full page were created in this one millisecond: further jobs of it cannot be listed. The walk continued
   * with older jobs.
   */
  readonly gapAt: string | null;
  /**
   * Set on the last page when the list was so far out of order that jobs may be hidden: the milliseconds by which a job was newer
   * than one before it.
   */
  readonly disorder: number | null;
}

/** Asks for a page of at most `PAGE_SIZE` jobs, newest first, created before a time. */
export type FetchPage = (createdBefore: string | null) => Promise<JobList>;

/** Entries of a page; the most that the service sends. */
export const PAGE_SIZE = 100;
/** A server may compare `created_before` in whole seconds. */
const BORDER_TOLERANCE_MS = 1_000;

/** Smallest overlap of pages, as a share of their entries: a job that is out of place may be behind a page that descends. */
const LEAST_OVERLAP = 1 / 4;
/** Largest overlap: a quarter of each page is then new. */
const LARGEST_OVERLAP = 3 / 4;
/** Safety factor: jobs not seen yet may be displaced further than those seen. */
const OVERLAP_BY_DISPLACEMENT = 2;

const NO_JOBS: JobPage = { jobs: [], malformed: 0, gapAt: null, disorder: null };

interface Order {
  /** Largest number of older jobs that the list has before a job, among the jobs found. */
  displacement: number;
  /** Largest time in milliseconds by which a job was newer than one before it. 0 for a list that descends. */
  disorder: number;
}

/**
 * Walks the list from new to old. `created_before` is the only cursor, so a list that is not newest first can hide jobs.
 * The displacement of a job is the number of older jobs that the list has before it.
 *
 * A page hides a job when the next one begins at an older time. The entries that the next page repeats are then older than the
 * job, and the list has them before it. So every job whose displacement is below the smallest overlap, in entries, is found.
 * For each job found, the displacement is exact, because a page has all older jobs that the list has before the job.
 *
 * Pages overlap by a quarter of their entries, and by twice the displacement seen so far. When a later job is displaced by at least half
 * of the smallest overlap, the last page reports `disorder`.
 *
 * Guaranteed: every job whose displacement is at most a quarter of a page is found, unless three quarters of a page were created
 * within two milliseconds. If the last page reports no disorder, every other job was found whose displacement is at most
 * twice that of any job found. Not visible: a job that is further from its place than that, in a list that is otherwise in
 * order, and jobs that a server leaves out of a page of fewer entries than requested when no page behind it has new ones.
 *
 * No job comes twice, because ids are compared: `created_before` may include equal times, and the server may send small pages and
 * repeat entries.
 *
 * @param since the walk ends at jobs created before this; milliseconds since the epoch
 */
export async function* walkJobs(
  fetch: FetchPage,
  since = Number.NEGATIVE_INFINITY,
): AsyncGenerator<JobPage, void> {
  const order: Order = { displacement: 0, disorder: 0 };
  const overlap = yield* walkPages(fetch, since, order);
  if (order.displacement > 0 && OVERLAP_BY_DISPLACEMENT * order.displacement >= overlap)
    yield { ...NO_JOBS, disorder: order.disorder };
}

/** Returns the smallest overlap of two pages, in entries. */
async function* walkPages(fetch: FetchPage, since: number, order: Order): AsyncGenerator<JobPage, number> {
  const seen = createRecentIds();
  let overlap = Number.POSITIVE_INFINITY;
  let cursor: number | null = null;
  /** Time of the oldest job of the page before. */
  let oldest = Number.POSITIVE_INFINITY;
  let largestPage = 0;
  let lastGap: string | null = null;
  /** Entries of a full page: fewer than requested if the server has shown that its pages are smaller. */
  let fullPage = PAGE_SIZE;
  /** The page before, when it was not full: full after all if older jobs follow. */
  let shortPage: { entries: number; overlap: number; gapAt: string | null } | null = null;
  for (;;) {
    const list = await fetch(cursor === null ? null : new Date(cursor).toISOString());
    const entries = list.jobs.length + list.malformed;
    if (entries === 0 && cursor !== null && oldest < cursor - BORDER_TOLERANCE_MS)
      throw invalid('a page is empty, without jobs that the page before it had');
    if (entries === 0) return overlap;
    if (list.jobs.length === 0) throw invalid(`none of ${entries} entries is a job record`);
    const jobs = withoutRepeats(list.jobs);
    const times = jobs.map(createdMs).sort((one, other) => other - one);
    const added = jobs.filter(({ id }) => !seen.has(id));
    if (added.length > 0 && shortPage !== null) {
      fullPage = Math.min(fullPage, shortPage.entries);
      overlap = Math.min(overlap, shortPage.overlap);
      if (shortPage.gapAt !== null) yield { ...NO_JOBS, gapAt: shortPage.gapAt };
    }
    const isFull = entries >= fullPage;
    if (!isHonoured(times, cursor)) {
      // The same short page again is the whole list.
      if (added.length === 0 && !isFull) return overlap;
      throw invalid('created_before is not honoured');
    }
    // Nothing new on a page smaller than others: only the overlap is left.
    if (added.length === 0 && entries < largestPage) return overlap;

    measureDisplacement(order, jobs, added);
    const border = nextBorder(times, cursor, OVERLAP_BY_DISPLACEMENT * order.displacement);
    const crowdedAt = border === null && times[0] === times.at(-1) ? isoOf(times[0] as number) : null;
    const gapAt = isFull ? crowdedAt : null;
    for (const { id } of jobs) seen.add(id);
    yield {
      jobs: added.filter((job) => createdMs(job) >= since),
      malformed: list.malformed,
      gapAt: gapAt === lastGap ? null : gapAt,
      disorder: null,
    };
    lastGap = gapAt ?? lastGap;
    largestPage = Math.max(largestPage, entries);
    const next: number = border ?? (cursor ?? 0) - 1;
    const repeated = times.filter((time) => time < next).length;
    const isLast = next <= since;
    if (isFull || isLast) overlap = Math.min(overlap, repeated);
    if (isLast) return overlap;
    shortPage = isFull ? null : { entries, overlap: repeated, gapAt: crowdedAt };
    cursor = next;
    oldest = times.at(-1) as number;
  }
}

/** Compares the places of new jobs in a page with their times. */
function measureDisplacement(order: Order, jobs: readonly JobRecord[], added: readonly JobRecord[]): void {
  const isAdded = new Set(added);
  const before: number[] = [];
  for (const job of jobs) {
    const time = createdMs(job);
    if (isAdded.has(job)) {
      const older = before.filter((each) => each < time);
      order.displacement = Math.max(order.displacement, older.length);
      order.disorder = Math.max(order.disorder, ...older.map((each) => time - each));
    }
    before.push(time);
  }
}

/**
 * Where the next page begins, so that it repeats `overlap` entries, or as many as leave room for new ones. One millisecond
 * later than an entry, because several may share its time and `created_before` leaves equal times out. Null when no entry is
 * older than this page's own border.
 *
 * @param times newest first
 */
function nextBorder(times: readonly number[], cursor: number | null, overlap: number): number | null {
  const count = times.length;
  const repeated = Math.min(
    Math.max(overlap, Math.ceil(count * LEAST_OVERLAP)),
    Math.floor(count * LARGEST_OVERLAP),
  );
  const newest = times[count - 1 - repeated] ?? Number.NEGATIVE_INFINITY;
  const next = times.find((time) => time <= newest && (cursor === null || time + 1 < cursor));
  return next === undefined ? null : next + 1;
}

function withoutRepeats(jobs: readonly JobRecord[]): JobRecord[] {
  return [...new Map(jobs.map((job) => [job.id, job])).values()];
}

/** Entries of ten pages. A job that is listed again is on the page before too, unless the list changes meanwhile. */
const REMEMBERED_IDS = 10 * PAGE_SIZE;

/** Set of at least the last thousand ids, however long the list is. */
function createRecentIds() {
  let recent = new Set<string>();
  let earlier = new Set<string>();
  return {
    has: (id: string) => recent.has(id) || earlier.has(id),
    add(id: string) {
      if (recent.size === REMEMBERED_IDS) {
        earlier = recent;
        recent = new Set();
      }
      recent.add(id);
    },
  };
}

/**
 * A server that ignores `created_before` sends the same page repeatedly: better an error than half a list.
 *
 * @param times newest first
 */
function isHonoured(times: readonly number[], cursor: number | null): boolean {
  const [newest = 0] = times;
  const oldest = times.at(-1) ?? 0;
  return cursor === null || (newest <= cursor + BORDER_TOLERANCE_MS && oldest <= cursor);
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
