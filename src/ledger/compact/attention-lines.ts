import type { LedgerLine } from '../../domain/delivery.js';
import { FAILURE_KINDS, failureKind, isFailure, type OfKind, settles } from '../../domain/failure-rules.js';
import type { Rollup } from './rollup.js';
import { comparePositions } from './sort-lines.js';

/** Upper bound of the failing jobs that are tracked at once, and of those of them whose callbacks are rejected. */
const MAX_JOBS = 5000;
const MAX_REFUSED = 2500;
/** Upper bounds of the lists in a rollup. */
const MAX_ATTENTION = 1000;
const MAX_ATTENTION_BYTES = 4 * 1024 * 1024;

/** Finds the failures of a file that the file itself does not settle. Lines come in order of receipt. */
export interface AttentionBuilder {
  add(line: LedgerLine): void;
  result(): Pick<Rollup, 'attention' | 'attentionOmitted'>;
}

/** The newest failing lines of a job. */
interface FailingJob {
  readonly first: string;
  readonly lines: OfKind<LedgerLine>;
}

export function collectAttention(): AttentionBuilder {
  const failing = new Map<string, FailingJob>();
  let refused = 0;
  let untracked = 0;
  /** Lines of the current instant: one that comes before a failing line of its instant settles it as well. */
  let sameInstant: LedgerLine[] = [];

  function track(line: LedgerLine, jobId: string): void {
    const known = failing.get(jobId);
    const isRefused = line.outcome === 'refused';
    if (known === undefined && (failing.size >= MAX_JOBS || (isRefused && refused >= MAX_REFUSED))) {
      untracked += 1;
      return;
    }
    const job: FailingJob = known ?? { first: line.receivedAt, lines: {} };
    if (isRefused && job.lines.refusal === undefined) refused += 1;
    job.lines[failureKind(line.outcome)] = line;
    failing.set(jobId, job);
  }

  function settle(line: LedgerLine, jobId: string): void {
    const job = failing.get(jobId);
    if (job === undefined) return;
    for (const kind of FAILURE_KINDS) {
      const failed = job.lines[kind];
      if (failed === undefined || !settles(rowOf(line), rowOf(failed))) continue;
      if (kind === 'refusal') refused -= 1;
      delete job.lines[kind];
    }
    if (Object.keys(job.lines).length === 0) failing.delete(jobId);
  }

  return {
    add(line) {
      const { jobId, receivedAt, outcome } = line;
      // Lines that were edited by hand can hold anything.
      if (typeof jobId !== 'string') return;
      if (sameInstant[0]?.receivedAt !== receivedAt) sameInstant = [];
      if (isFailure(outcome)) {
        track(line, jobId);
        for (const other of sameInstant) if (other.jobId === jobId) settle(other, jobId);
      } else {
        settle(line, jobId);
      }
      sameInstant.push(line);
    },

    result() {
      const open = [...failing.values()].flatMap(({ first, lines }) =>
        Object.values(lines).map((line) => ({ line, first })),
      );
      const attention = takeUpTo(MAX_ATTENTION_BYTES, open.sort(byUrgency).slice(0, MAX_ATTENTION));
      return {
        attention: attention.sort((a, b) => comparePositions(a.line, b.line)),
        attentionOmitted: untracked + open.length - attention.length,
      };
    },
  };
}

function rowOf({ outcome, receivedAt }: LedgerLine) {
  return { outcome, time: Date.parse(receivedAt) };
}

function takeUpTo<Entry>(bytes: number, entries: readonly Entry[]): Entry[] {
  let room = bytes;
  return entries.filter((entry) => {
    room -= JSON.stringify(entry).length;
    return room >= 0;
  });
}

/** Rejected callbacks last: they come in any number. The newest first. */
function byUrgency(a: { line: LedgerLine }, b: { line: LedgerLine }): number {
  const rank = ({ line }: { line: LedgerLine }) => (line.outcome === 'refused' ? 1 : 0);
  return rank(a) - rank(b) || comparePositions(b.line, a.line);
}
