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

/** Asks for at most `limit` jobs, newest first, created before a time. */
export type FetchPage = (createdBefore: string | null, limit: number) => Promise<JobList>;

const LARGEST_PAGE = 100;
/** A server may compare `created_before` in whole seconds. */
const BORDER_TOLERANCE_MS = 1_000;

/** Smallest overlap of pages, as a share of their entries: a job that is out of place may be behind a page that descends. */
const LEAST_OVERLAP = 1 / 10;
/** Largest overlap: a quarter of each page is then new. */
const LARGEST_OVERLAP = 3 / 4;
/** Safety factor: jobs not seen yet may be displaced further than those seen. */
const OVERLAP_BY_DISPLACEMENT = 2;
/** Most walks over one list, each with a larger overlap. */
const MAX_WALKS = 3;

const NO_JOBS: JobPage = { jobs: [], malformed: 0, gapAt: null, disorder: null };

interface Walk {
  /** Largest number of older jobs that the list has before a job, among the jobs found. */
  displacement: number;
  /** Largest time in milliseconds by which a job was newer than one before it. 0 for a list that descends. */
  disorder: number;
  /** Every job with a displacement below this was found. */
  reach: number;
}

/**
 * Walks the list from new to old. `created_before` is the only cursor, so a list that is not newest first can hide jobs.
 * The displacement of a job is the number of older jobs that the list has before it.
 *
 * A page hides a job when the next one begins at an older time. The entries that the next page repeats are then older than the
 * job, and the list has them before it. So a walk finds every job whose displacement is at most its smallest overlap, in entries.
 * For each job found, the displacement is exact, because a page has all older jobs that the list has before the job.
 *
 * Pages overlap by twice the displacement that was seen, and by a tenth of their entries at least. The list is walked again while
 * earlier pages overlapped by less than twice the displacement of any job found. If that does not help, the last page reports `disorder`.
 *
 * Guaranteed: every job whose displacement is at most a tenth of a page is found, unless nine tenths of a page were created
 * within two milliseconds. If the last page reports no disorder, every other job was found whose displacement is at most
 * twice that of any job found. Not visible: a job that is further from its place than that, in a list that is otherwise in
 * order, and jobs that a server leaves out of a page of fewer entries than requested when no page behind it has new ones.
 *
 * No job comes twice, because ids are compared: `created_before` may include equal times, and the server may send small pages and
 * repeat entries.
 *
 * @param limit entries of a page, 1 to 100
 * @param since the walk ends at jobs created before this; milliseconds since the epoch
 */
export async function* walkJobs(
  fetch: FetchPage,
  limit: number,
  since = Number.NEGATIVE_INFINITY,
): AsyncGenerator<JobPage> {
  const seen = createRecentIds(REMEMBERED_IDS);
  let overlap = 0;
  for (let walks = 1; ; walks += 1) {
    const { displacement, disorder, reach } = yield* walkOnce(fetch, limit, since, seen, overlap);
    overlap = OVERLAP_BY_DISPLACEMENT * displacement;
    if (overlap < reach || displacement === 0) return;
    if (walks === MAX_WALKS || overlap > limit * LARGEST_OVERLAP || seen.hasForgotten()) {
      yield { ...NO_JOBS, disorder };
      return;
    }
  }
}

async function* walkOnce(
  fetch: FetchPage,
  pageSize: number,
  since: number,
  seen: RecentIds,
  leastOverlap: number,
): AsyncGenerator<JobPage, Walk> {
  const walk = { displacement: 0, disorder: 0, reach: Number.POSITIVE_INFINITY };
  const walked = createRecentIds(10 * LARGEST_PAGE);
  let limit = pageSize;
  let cursor: number | null = null;
  /** Time of the oldest job of the page before. */
  let oldest = Number.POSITIVE_INFINITY;
  let largestPage = 0;
  let lastGap: string | null = null;
  /** Page size that the server seems to use: entries of a page that was smaller than requested and yet not the last. */
  let serverPageSize = Number.POSITIVE_INFINITY;
  /** The page before, when it was smaller than requested: full after all if older jobs follow. */
  let shortPage: { entries: number; reach: number; gapAt: string | null } | null = null;
  for (;;) {
    const list = await fetch(cursor === null ? null : new Date(cursor).toISOString(), limit);
    const entries = list.jobs.length + list.malformed;
    if (entries === 0 && cursor !== null && oldest < cursor - BORDER_TOLERANCE_MS)
      throw invalid('a page is empty, without jobs that the page before it had');
    if (entries === 0) return walk;
    if (list.jobs.length === 0) throw invalid(`none of ${entries} entries is a job record`);
    const jobs = withoutRepeats(list.jobs);
    const times = jobs.map(createdMs).sort((one, other) => other - one);
    const added = jobs.filter(({ id }) => !walked.has(id));
    if (added.length > 0 && shortPage !== null) {
      serverPageSize = Math.min(serverPageSize, shortPage.entries);
      walk.reach = Math.min(walk.reach, shortPage.reach);
      if (shortPage.gapAt !== null) yield { ...NO_JOBS, gapAt: shortPage.gapAt };
    }
    const isFull = entries >= Math.min(limit, serverPageSize);
    // Nothing new on a page smaller than others: only the overlap is left.
    if (added.length === 0 && entries < largestPage) return walk;
    if (added.length === 0 && !isHonoured(times, cursor)) {
      if (isFull) throw invalid('created_before is not honoured');
      return walk;
    }

    measureDisplacement(walk, jobs, added);
    const border = nextBorder(
      times,
      cursor,
      Math.max(leastOverlap, OVERLAP_BY_DISPLACEMENT * walk.displacement),
    );
    const isStuck = border === null && isFull;
    if (isStuck && limit < LARGEST_PAGE) {
      limit = LARGEST_PAGE;
      continue;
    }
    const crowdedAt = border === null && times[0] === times.at(-1) ? isoOf(times[0] as number) : null;
    const gapAt = isFull ? crowdedAt : null;
    const unseen = added.filter(({ id }) => !seen.has(id));
    for (const { id } of added) walked.add(id);
    for (const { id } of unseen) seen.add(id);
    yield {
      jobs: unseen.filter((job) => createdMs(job) >= since),
      malformed: unseen.length > 0 ? list.malformed : 0,
      gapAt: gapAt === lastGap ? null : gapAt,
      disorder: null,
    };
    // Where jobs keep coming, a server that ignores created_before always has a new one, and the walk would never end.
    if (isStuck && !isHonoured(times, cursor)) throw invalid('created_before is not honoured');
    lastGap = gapAt ?? lastGap;
    if (limit === pageSize) largestPage = Math.max(largestPage, entries);
    limit = pageSize;
    const next: number = border ?? (cursor ?? 0) - 1;
    const reach = times.filter((time) => time < next).length;
    const isLast = next <= since;
    if (isFull || isLast) walk.reach = Math.min(walk.reach, reach);
    if (isLast) return walk;
    shortPage = isFull ? null : { entries, reach, gapAt: crowdedAt };
    cursor = next;
    oldest = times.at(-1) as number;
  }
}

/** Compares the places of new jobs in a page with their times. */
function measureDisplacement(walk: Walk, jobs: readonly JobRecord[], added: readonly JobRecord[]): void {
  const isAdded = new Set(added);
  const before: number[] = [];
  for (const job of jobs) {
    const time = createdMs(job);
    if (isAdded.has(job)) {
      const older = before.filter((each) => each < time);
      walk.displacement = Math.max(walk.displacement, older.length);
      walk.disorder = Math.max(walk.disorder, ...older.map((each) => time - each));
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

/** Two sets of this size suffice to walk a list of twice as many jobs again without repeating a job. */
const REMEMBERED_IDS = 50_000;

interface RecentIds {
  has(id: string): boolean;
  add(id: string): void;
  /** Whether ids were dropped, so that a second walk would repeat their jobs. */
  hasForgotten(): boolean;
}

/** Set of at least the last `size` ids, however long the list is. */
function createRecentIds(size: number): RecentIds {
  let recent = new Set<string>();
  let earlier = new Set<string>();
  let forgotten = false;
  return {
    has: (id) => recent.has(id) || earlier.has(id),
    add(id) {
      if (recent.size === size) {
        forgotten ||= earlier.size > 0;
        [recent, earlier] = [new Set(), recent];
      }
      recent.add(id);
    },
    hasForgotten: () => forgotten,
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
