/** Results of a run. */
export interface MergeReport {
  readonly startedAt: string;
  finishedAt: string;
  /** Hours for which this run wrote records. */
  hours: number;
  /** Records, each with its object. */
  records: number;
  /** Lines and segments of those objects. */
  lines: number;
  segments: number;
  /** Deleted segments: of the ledger by `ledger.keepSegments`, of sent records once they are merged. */
  deleted: number;
  /** Deleted objects that no record had named for a day. */
  swept: number;
  /** ISO 8601: start of the oldest whole hour that is not merged, among those that the run reached; null without one. */
  oldestOpen: string | null;
  /** Whether the run was stopped before its end. */
  interrupted: boolean;
  /** Failures, damaged and lost objects; at most a hundred. */
  readonly faults: MergeFault[];
}

interface MergeFault {
  /** Folder of the segments of the hour; null when the run itself failed. */
  readonly hour: string | null;
  readonly reason: string;
}

export function createMergeReport(startedAt: number): MergeReport {
  const time = new Date(startedAt).toISOString();
  return {
    startedAt: time,
    finishedAt: time,
    hours: 0,
    records: 0,
    lines: 0,
    segments: 0,
    deleted: 0,
    swept: 0,
    oldestOpen: null,
    interrupted: false,
    faults: [],
  };
}
