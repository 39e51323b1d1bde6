/** Result of a run of `copy-store`. */
export interface CopyReport {
  readonly startedAt: string;
  finishedAt: string;
  /** The id is null for a source from before stores had one. */
  readonly from: { readonly location: string; readonly id: string | null };
  readonly to: { readonly location: string; readonly id: string };
  /** Hours of the source's ledger that were merged before copying. */
  mergedHours: number;
  /** Objects written, and their bytes. */
  copied: number;
  bytes: number;
  /** Objects that an earlier run had already copied. */
  there: number;
  /** Objects of earlier runs that the source does not have any more. */
  removed: number;
  /** Objects that are in both stores at the end, with the same size or, with `deep`, the same bytes. */
  verified: number;
  readonly deep: boolean;
  /** Whether the run was stopped before its end. */
  interrupted: boolean;
  /** Whether the copy may be served. */
  finished: boolean;
  /** Objects whose copy is missing or different. */
  readonly faults: CopyFault[];
  /** Number of the faults: the list has the first 10,000. */
  faultCount: number;
  /** Notes for the operator that do not make the copy incomplete. */
  readonly notices: string[];
}

interface CopyFault {
  readonly key: string;
  readonly reason: string;
}

const MAX_FAULTS = 10_000;

/** Adds a fault to the report, unless the key already has one. */
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
