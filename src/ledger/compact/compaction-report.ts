/** Results of a run. */
export interface CompactionReport {
  readonly startedAt: string;
  finishedAt: string;
  /** Hours for which this run wrote files. */
  hours: number;
  files: number;
  /** Lines of those files. */
  lines: number;
  /** Segments that those files cover. */
  segments: number;
  /** Lines of those segments that cannot be read, and lines of a newer version. Their segments are never deleted. */
  broken: number;
  newer: number;
  /** Daily rollups that this run wrote. */
  days: number;
  /** Segments that were deleted, by `ledger.keepSegments`. */
  deleted: number;
  /** Hours that another process works on, or stopped working on less than ten minutes ago. */
  inProgress: number;
  /** ISO 8601: the begin of the oldest whole hour that is not compacted, of those that the run reached; null without one. */
  oldestOpen: string | null;
  /** Whether the run was stopped before its end. */
  interrupted: boolean;
  /** What failed or is damaged; at most a hundred of the hours. */
  readonly faults: CompactionFault[];
}

interface CompactionFault {
  /** Folder of the hour, or of the day; null when the run itself failed. */
  readonly hour: string | null;
  readonly reason: string;
}

export function createCompactionReport(startedAt: number): CompactionReport {
  const time = new Date(startedAt).toISOString();
  return {
    startedAt: time,
    finishedAt: time,
    hours: 0,
    files: 0,
    lines: 0,
    segments: 0,
    broken: 0,
    newer: 0,
    days: 0,
    deleted: 0,
    inProgress: 0,
    oldestOpen: null,
    interrupted: false,
    faults: [],
  };
}
