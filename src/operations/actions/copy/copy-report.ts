/** What a run of a copy did. */
export interface CopyReport {
  readonly startedAt: string;
  finishedAt: string;
  /** The id is null for a source that nothing was stored in since stores have one. */
  readonly from: { readonly location: string; readonly id: string | null };
  readonly to: { readonly location: string; readonly id: string };
  /** Hours of the source's ledger that were merged first. */
  mergedHours: number;
  /** Objects that were written, and their bytes. */
  copied: number;
  bytes: number;
  /** Objects that an earlier run had copied. */
  there: number;
  /** Objects of earlier runs that the source does not have any more. */
  removed: number;
  /** Objects that were found in both at the end, with the same size or, with `deep`, the same bytes. */
  verified: number;
  readonly deep: boolean;
  /** Whether the run was stopped before its end. */
  interrupted: boolean;
  /** Whether the copy may be served. */
  finished: boolean;
  /** Objects that are not in the copy as they are in the source; with their keys. */
  readonly faults: CopyFault[];
  /** Number of the faults: the list has the first 10,000. */
  faultCount: number;
  /** What an operator should know although the copy is whole. */
  readonly notices: string[];
}

interface CopyFault {
  readonly key: string;
  readonly reason: string;
}

const MAX_FAULTS = 10_000;

/** Takes the faults of a report. The first one of each key counts. */
export type AddFault = (key: string, reason: string) => void;

export function faultsOf(report: CopyReport): AddFault {
  const keys = new Set<string>();
  return (key, reason) => {
    if (keys.has(key)) return;
    report.faultCount += 1;
    if (keys.size >= MAX_FAULTS) return;
    keys.add(key);
    report.faults.push({ key, reason });
  };
}
