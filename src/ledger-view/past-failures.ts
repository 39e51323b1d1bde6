import { type JobProbe, probeOfJob } from '../archive/ledger/compaction/job-blooms.js';
import { FAILURE_KINDS, failureKind, isFailure, type OfKind, settles } from '../domain/failure-rules.js';
import { type LedgerRow, LineBlock, linesOf } from './ledger-row.js';

/** A job whose last outcome may be a failure: its newest failing lines before the rows in memory. */
export interface PastFailure {
  /** Time of the oldest failing line that is known. */
  first: number;
  readonly failures: OfKind<FailingLine>;
  /** How many of the compacted files were searched for lines that settle them. */
  searched: number;
  readonly probe: JobProbe;
}

export interface FailingLine {
  readonly row: LedgerRow;
  /** Key of the compacted file that holds it; null when this process saw the line itself, and for conflicts, which rollups settle. */
  readonly file: string | null;
}

/** A failing job without its lines. */
const JOB_BYTES = 400;
/** A longer reason is cut: the page of the job shows all of it. */
const MAX_REASON = 500;

/** The open failures of the time before the rows in memory, bounded in bytes. */
export interface PastFailures {
  readonly jobs: ReadonlyMap<string, PastFailure>;
  /** Lines that were left out because failing jobs take all the memory they may. */
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

/** Upper bound of failing jobs of the rows in memory that are listed at once: a sender whose callbacks are rejected all day brings more. */
export const MAX_FAILING_JOBS = 10_000;

export function createPastFailures(maxBytes: number): PastFailures {
  const jobs = new Map<string, PastFailure>();
  let omitted = 0;
  let bytes = 0;

  function remove(id: string, { failures }: PastFailure, isOver: (row: LedgerRow) => boolean): void {
    for (const kind of FAILURE_KINDS) {
      const row = failures[kind]?.row;
      if (row === undefined || !isOver(row)) continue;
      bytes -= row.heldBytes;
      delete failures[kind];
    }
    if (Object.keys(failures).length === 0 && jobs.delete(id)) bytes -= JOB_BYTES;
  }

  function settle(line: SettlingLine): void {
    const known = line.job === null ? undefined : jobs.get(line.job);
    if (known === undefined || line.job === null) return;
    remove(line.job, known, (row) => settles(line, row));
  }

  function note(row: LedgerRow, first: number, file: string | null): void {
    if (row.job === null) return;
    const known = jobs.get(row.job);
    if (known === undefined && bytes >= maxBytes) {
      omitted += 1;
      return;
    }
    const probe = known?.probe ?? probeOfJob(row.job);
    const job: PastFailure = known ?? { first, failures: {}, searched: 0, probe };
    if (known === undefined) bytes += JOB_BYTES;
    job.first = Math.min(job.first, first);
    const kind = failureKind(row.outcome);
    const last = job.failures[kind]?.row;
    if (last === undefined || last.time <= row.time) {
      const own = withOwnLine(row);
      bytes += own.heldBytes - (last?.heldBytes ?? 0);
      job.failures[kind] = { row: own, file: kind === 'conflict' ? null : file };
      if (kind !== 'conflict') job.searched = 0;
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
      for (const [job, known] of jobs) remove(job, known, (row) => row.time < time);
      if (bytes < maxBytes) omitted = 0;
    },
  };
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
