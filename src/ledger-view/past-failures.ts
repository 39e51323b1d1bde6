import { type JobProbe, probeOfJob } from '../archive/ledger/compaction/job-blooms.js';
import { isFailure, settles } from '../domain/failure-rules.js';
import { type LedgerRow, LineBlock, linesOf } from './ledger-row.js';

/** A job whose last outcome may be a failure: its newest failing lines before the rows in memory. */
export interface PastFailure {
  /** Time of the oldest failing line that is known. */
  first: number;
  failure: LedgerRow | null;
  conflict: LedgerRow | null;
  /** Key of the compacted file that holds `failure`; null when this process saw the line itself. */
  file: string | null;
  /** How many of the compacted files were searched for lines that settle `failure`. */
  searched: number;
  readonly probe: JobProbe;
}

/** The open failures of the time before the rows in memory. Bounded: a failing job takes some 2 KB. */
export interface PastFailures {
  readonly jobs: ReadonlyMap<string, PastFailure>;
  /** Lines that were left out because too many jobs fail. */
  readonly omitted: number;
  /** Takes a line that this process saw: one that fails, or one that settles. */
  add(row: LedgerRow): void;
  /** Takes a failing line of a compacted file, and when the job failed first in it. */
  addFrom(file: string, row: LedgerRow, first: number): void;
  settle(line: SettlingLine): void;
  /** Forgets the failures before an instant. */
  forgetBefore(time: number): void;
}

export interface SettlingLine {
  readonly job: string | null;
  readonly time: number;
  readonly outcome: string;
}

/** Upper bound of failing jobs that are tracked at once: a sender whose callbacks are rejected all day brings more. */
export const MAX_FAILING_JOBS = 10_000;

export function createPastFailures(): PastFailures {
  const jobs = new Map<string, PastFailure>();
  let omitted = 0;

  function settle(line: SettlingLine): void {
    const known = line.job === null ? undefined : jobs.get(line.job);
    if (known === undefined || line.job === null) return;
    if (known.failure !== null && settles(line, known.failure)) known.failure = null;
    if (known.conflict !== null && settles(line, known.conflict)) known.conflict = null;
    if (known.failure === null && known.conflict === null) jobs.delete(line.job);
  }

  function note(row: LedgerRow, first: number, file: string | null): void {
    if (row.job === null) return;
    const known = jobs.get(row.job);
    if (known === undefined && jobs.size >= MAX_FAILING_JOBS) {
      omitted += 1;
      return;
    }
    const probe = known?.probe ?? probeOfJob(row.job);
    const job = known ?? { first, failure: null, conflict: null, file: null, searched: 0, probe };
    job.first = Math.min(job.first, first);
    if (row.outcome === 'conflict') {
      if (isNewer(row, job.conflict)) job.conflict = withOwnLine(row);
    } else if (isNewer(row, job.failure)) {
      job.failure = withOwnLine(row);
      job.file = file;
      job.searched = 0;
    }
    jobs.set(row.job, job);
  }

  return {
    jobs,
    get omitted() {
      return omitted;
    },
    settle,
    add(row) {
      if (isFailure(row.outcome)) note(row, row.time, null);
      else settle(row);
    },
    addFrom: (file, row, first) => note(row, first, file),
    forgetBefore(time) {
      for (const [job, known] of jobs) {
        if (known.failure !== null && known.failure.time < time) known.failure = null;
        if (known.conflict !== null && known.conflict.time < time) known.conflict = null;
        if (known.failure === null && known.conflict === null) jobs.delete(job);
      }
      if (jobs.size < MAX_FAILING_JOBS) omitted = 0;
    },
  };
}

function isNewer(row: LedgerRow, known: LedgerRow | null): boolean {
  return known === null || known.time <= row.time;
}

/** A row shares its block with 63 others, which would stay in memory. */
function withOwnLine(row: LedgerRow): LedgerRow {
  const block = new LineBlock();
  const index = block.add(JSON.stringify(linesOf([row])[0] ?? null));
  return { ...row, block, index };
}
