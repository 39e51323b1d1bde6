import { failureKind, settles } from '../../../domain/failure-rules.js';
import { type JobProbe, probeOfJob } from '../../parquet/job-blooms.js';
import { type LedgerRow, LineBlock, linesOf } from '../window/ledger-row.js';

/** A job whose last outcome is a failure, as far as its lines were looked at. */
export interface FailingJob {
  /** Receipt of the oldest failing line that is known, in milliseconds since the epoch. */
  first: number;
  /** Its newest failing lines: one of each kind and source. */
  rows: readonly LedgerRow[];
  readonly probe: JobProbe;
}

/** A line that may settle a failure. */
export interface SettlingLine {
  readonly job: string | null;
  readonly outcome: string;
  /** Milliseconds since the epoch. */
  readonly received: number;
}

/** The open failures, bounded in bytes. Lines come in any order, and any number of times. */
export interface FailingJobs {
  readonly jobs: ReadonlyMap<string, FailingJob>;
  /** Takes a failing line, and when its job failed first. False: there is no room for it. */
  add(row: LedgerRow, first: number): boolean;
  settle(line: SettlingLine): void;
  /** Whether there is room for many more. */
  hasRoom(): boolean;
  /** Forgets the failures received before an instant. */
  forgetBefore(time: number): void;
}

/** A failing job without its lines. */
const JOB_BYTES = 400;
/** A longer reason is cut: the page of the job shows all of it. */
const MAX_REASON = 500;

export function createFailingJobs(maxBytes: number): FailingJobs {
  const jobs = new Map<string, FailingJob>();
  let bytes = 0;

  function remove(id: string, job: FailingJob, isOver: (row: LedgerRow) => boolean): void {
    for (const row of job.rows) if (isOver(row)) bytes -= row.heldBytes;
    job.rows = job.rows.filter((row) => !isOver(row));
    if (job.rows.length === 0 && jobs.delete(id)) bytes -= JOB_BYTES;
  }

  function settle({ job, outcome, received }: SettlingLine): void {
    const known = job === null ? undefined : jobs.get(job);
    if (known === undefined || job === null) return;
    remove(job, known, (row) =>
      settles({ outcome, time: received }, { outcome: row.outcome, time: row.received }),
    );
  }

  function add(row: LedgerRow, first: number): boolean {
    if (row.job === null) return true;
    const known = jobs.get(row.job);
    if (known === undefined && bytes >= maxBytes) return false;
    const job = known ?? { first, rows: [], probe: probeOfJob(row.job) };
    if (known === undefined) {
      bytes += JOB_BYTES;
      jobs.set(row.job, job);
    }
    job.first = Math.min(job.first, first);
    const last = job.rows.find((other) => isOfSameKind(other, row));
    if (last !== undefined && last.received >= row.received) return true;
    const own = withOwnLine(row);
    bytes += own.heldBytes - (last?.heldBytes ?? 0);
    job.rows = [...job.rows.filter((other) => other !== last), own];
    return true;
  }

  return {
    jobs,
    add,
    settle,
    hasRoom: () => bytes < maxBytes * 0.75,
    forgetBefore(time) {
      for (const [id, job] of jobs) remove(id, job, (row) => row.received < time);
    },
  };
}

/** A line replaces an older one of its kind and source: who may see a source must not miss its failure behind another's. */
function isOfSameKind(a: LedgerRow, b: LedgerRow): boolean {
  return failureKind(a.outcome) === failureKind(b.outcome) && a.source === b.source;
}

/** A row shares its block with 63 others, which would stay in memory. */
function withOwnLine(row: LedgerRow): LedgerRow {
  const block = new LineBlock();
  const [line = null] = linesOf([row]);
  const text = JSON.stringify(line && { ...line, reason: shortened(line.reason) });
  // The line is not compressed here; the row had its part of a compressed block in its account.
  return { ...row, block, index: block.add(text), heldBytes: row.heldBytes + text.length };
}

function shortened(reason: string | null): string | null {
  return typeof reason === 'string' && reason.length > MAX_REASON
    ? `${reason.slice(0, MAX_REASON)}…`
    : reason;
}
