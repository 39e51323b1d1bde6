import { HOUR, startOfHour } from '../../hours.js';
import type { HourFile } from '../log/compacted-hours.js';
import type { LedgerRow } from '../window/ledger-row.js';
import { type RowWindow, snapshotOf, visitRows } from '../window/row-window.js';
import type { FailingJobs } from './failing-jobs.js';

/** Whether failures are settled by lines that had been passed when they were found: a failure can be written after those. */
export interface FailureProof {
  /** From here on lines were not looked at that may settle a failure; Infinity: there are none. */
  doubtedSince(): number;
  /** Lines written before this instant may settle failures that were found after they left memory. */
  uncertainUntil(): number;
  /** Whether failures were found that lines in files may settle which were read before. */
  isPending(): boolean;
  /** A failure came into memory. */
  foundInMemory(failed: LedgerRow): void;
  /** A failure was found in a file. `isRead`: files that may settle it were read before. */
  foundInFile(failed: LedgerRow, isRead: boolean): void;
  /**
   * Looks at the lines of files, and at memory. Calls must not overlap. Rejects with `StoreError`; the next call begins again.
   *
   * @param files all that were read
   */
  prove(files: readonly HourFile[]): Promise<void>;
}

interface FailureProofParts {
  readonly failing: Pick<FailingJobs, 'settle'>;
  /** Settles failures of these jobs by the lines of files. Rejects with `StoreError`. */
  readonly settleByEach: (files: readonly HourFile[], jobsFor: () => Iterable<string>) => Promise<void>;
  readonly window: RowWindow;
  /** Every line written from then on is in the window. */
  readonly completeSince: () => number;
  /** Every line written from then on is in the window, or left it. */
  readonly followedSince: () => number;
}

export function createFailureProof(parts: FailureProofParts): FailureProof {
  const { failing, window, completeSince, followedSince } = parts;
  /** Failures in memory that were received before it begins. */
  let late: LedgerRow[] = [];
  /** Those in files that files may settle which were read before, by job. */
  const unproven = new Map<string, number>();
  /** Receipt of the first failure in a file that was found since memory was looked at. */
  let foundSince = Number.POSITIVE_INFINITY;
  let uncertainUntil = Number.NEGATIVE_INFINITY;

  /** Memory may reach further back by now: the lines that it was filled with have settled what they can. */
  function stillLate(): readonly LedgerRow[] {
    late = late.filter(({ received }) => received < completeSince());
    return late;
  }

  function note({ job, received }: LedgerRow): void {
    if (job !== null) unproven.set(job, Math.min(received, unproven.get(job) ?? received));
  }

  return {
    doubtedSince: () => stillLate().reduce((first, { received }) => Math.min(first, received), foundSince),
    uncertainUntil: () => uncertainUntil,
    isPending: () => unproven.size + stillLate().length > 0,
    foundInMemory(failed) {
      if (failed.received < completeSince()) late.push(failed);
    },
    foundInFile(failed, isRead) {
      if (isRead) note(failed);
      foundSince = Math.min(foundSince, failed.received);
    },
    async prove(files) {
      const looked = new Set(stillLate());
      if (looked.size === 0 && foundSince === Number.POSITIVE_INFINITY) return;
      looked.forEach(note);
      const first = [...unproven.values()].reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
      const since = files.filter(({ hour }) => startOfHour(hour) + HOUR > first);
      await parts.settleByEach(since, () => unproven.keys());
      const complete = completeSince();
      await visitRows(snapshotOf(window), failing.settle);
      const hasGap = followedSince() < complete;
      uncertainUntil = hasGap ? Math.max(uncertainUntil, complete) : Math.min(uncertainUntil, complete);
      unproven.clear();
      foundSince = Number.POSITIVE_INFINITY;
      late = late.filter((row) => !looked.has(row));
    },
  };
}
