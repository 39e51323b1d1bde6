import type { LedgerLine } from '../../domain/delivery.js';
import { failureKind, isFailure, settles } from '../../domain/failure-rules.js';
import type { AttentionLine, Rollup } from './rollup.js';

/** Upper bounds of the lists in a rollup. */
const MAX_ATTENTION = 1000;
const MAX_ATTENTION_BYTES = 4 * 1024 * 1024;

/**
 * Finds the failures of a file that the file itself does not settle: by time of receipt, because a rejection can be written after
 * the success of its retry. Holds an entry for each job, which is less than the text of the file.
 */
export interface AttentionBuilder {
  add(line: LedgerLine): void;
  result(): Pick<Rollup, 'attention' | 'attentionOmitted'>;
}

interface Job {
  /** Of the failing lines. */
  first: string;
  /** The newest failing line of each kind and source: a client may see one source only. */
  readonly failing: Map<string, LedgerLine>;
  /** The last line of each other outcome. */
  readonly others: Map<string, number>;
}

export function collectAttention(): AttentionBuilder {
  const jobs = new Map<string, Job>();

  function jobOf(jobId: string): Job {
    const job = jobs.get(jobId) ?? { first: '~', failing: new Map(), others: new Map() };
    jobs.set(jobId, job);
    return job;
  }

  return {
    add(line) {
      const { jobId, receivedAt, outcome } = line;
      // Lines that were edited by hand can hold anything.
      if (typeof jobId !== 'string') return;
      const job = jobOf(jobId);
      if (!isFailure(outcome)) {
        const time = Date.parse(receivedAt);
        job.others.set(outcome, Math.max(time, job.others.get(outcome) ?? time));
        return;
      }
      const kind = JSON.stringify([failureKind(outcome), line.source]);
      const known = job.failing.get(kind);
      if (known === undefined || known.receivedAt <= receivedAt) job.failing.set(kind, line);
      if (receivedAt < job.first) job.first = receivedAt;
    },

    result() {
      const open = [...jobs.values()].flatMap(openLines).sort(byUrgency);
      const attention = takeUpTo(MAX_ATTENTION_BYTES, open.slice(0, MAX_ATTENTION));
      return {
        attention: attention.sort((a, b) => compareReceipt(a.line, b.line)),
        attentionOmitted: open.length - attention.length,
      };
    },
  };
}

function openLines({ first, failing, others }: Job): AttentionLine[] {
  return [...failing.values()].flatMap((line) => {
    const failed = { outcome: line.outcome, time: Date.parse(line.receivedAt) };
    const isSettled = [...others].some(([outcome, time]) => settles({ outcome, time }, failed));
    return isSettled ? [] : [{ line, first }];
  });
}

function takeUpTo(bytes: number, entries: readonly AttentionLine[]): AttentionLine[] {
  let room = bytes;
  return entries.filter((entry) => {
    room -= JSON.stringify(entry).length;
    return room >= 0;
  });
}

/** Rejected callbacks last: they come in any number. The newest first. */
function byUrgency(a: AttentionLine, b: AttentionLine): number {
  const rank = ({ line }: AttentionLine) => (line.outcome === 'refused' ? 1 : 0);
  return rank(a) - rank(b) || compareReceipt(b.line, a.line);
}

function compareReceipt(a: LedgerLine, b: LedgerLine): number {
  const [one, other] = [a, b].map((line) => `${line.receivedAt} ${line.deliveryId} ${line.outcome}`);
  return one === other ? 0 : (one ?? '') < (other ?? '') ? -1 : 1;
}
