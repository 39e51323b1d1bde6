import { FAILURE_KINDS, failureKind, isFailure, type OfKind, settles } from '../domain/failure-rules.js';
import { type JobProbe, probeOfJob } from '../ledger/compact/job-blooms.js';
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
  /** This process sees every later line of its job. */
  readonly isFollowed: boolean;
  /** Key of a compacted file that has no line that settles it, where one is known. */
  readonly unsettledIn: string | null;
}

/** A failing job without its lines. */
const JOB_BYTES = 400;
/** A longer reason is cut: the page of the job shows all of it. */
const MAX_REASON = 500;

/** The open failures of the time before the rows in memory, bounded in bytes. */
export interface PastFailures {
  readonly jobs: ReadonlyMap<string, PastFailure>;
  /** Failing jobs take all the memory they may: no other job is taken. */
  readonly isFull: boolean;
  /** Every failing line that this process saw at or after this instant was taken. */
  readonly takenSince: number;
  /** Takes a line that this process saw: one that fails, or one that settles. */
  add(row: LedgerRow): void;
  /**
   * Takes a failing line of the time before, and when the job failed first in its file. False: there is no room for it.
   *
   * @param unsettledIn key of a compacted file that has no line that settles it
   */
  addFrom(unsettledIn: string | null, row: LedgerRow, first: number): boolean;
  settle(line: SettlingLine): void;
  /** Forgets the failures before an instant. */
  forgetBefore(time: number): void;
}

export interface SettlingLine {
  readonly job: string | null;
  readonly time: number;
  readonly outcome: string;
}

export function createPastFailures(maxBytes: number): PastFailures {
  const jobs = new Map<string, PastFailure>();
  let takenSince = Number.NEGATIVE_INFINITY;
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

  function note(row: LedgerRow, first: number, seen: Omit<FailingLine, 'row'>): boolean {
    if (row.job === null) return true;
    const known = jobs.get(row.job);
    if (known === undefined && bytes >= maxBytes) return false;
    const probe = known?.probe ?? probeOfJob(row.job);
    const job: PastFailure = known ?? { first, failures: {}, searched: 0, probe };
    if (known === undefined) bytes += JOB_BYTES;
    job.first = Math.min(job.first, first);
    const kind = failureKind(row.outcome);
    const last = job.failures[kind]?.row;
    if (last === undefined || last.time <= row.time) {
      const own = withOwnLine(row);
      bytes += own.heldBytes - (last?.heldBytes ?? 0);
      job.failures[kind] = { row: own, ...seen };
      job.searched = 0;
    }
    jobs.set(row.job, job);
    return true;
  }

  return {
    jobs,
    get isFull() {
      return bytes >= maxBytes;
    },
    get takenSince() {
      return takenSince;
    },
    settle,
    add(row) {
      if (!isFailure(row.outcome)) settle(row);
      else if (!note(row, row.time, { isFollowed: true, unsettledIn: null }))
        takenSince = Math.max(takenSince, row.time + 1);
    },
    addFrom: (unsettledIn, row, first) => note(row, first, { isFollowed: false, unsettledIn }),
    forgetBefore(time) {
      for (const [job, known] of jobs) remove(job, known, (row) => row.time < time);
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
