import type { LedgerLine } from '../../domain/delivery.js';

/** Name of all names of a dimension beyond the first hundred. */
export const OTHER = 'other';

/** Figures of the lines that agree in these five names. Any name can be `OTHER`. */
export interface RollupGroup {
  readonly source: string | null;
  readonly region: string | null;
  readonly status: string | null;
  readonly origin: string;
  readonly outcome: string;
  readonly lines: number;
  /** Body bytes. */
  readonly bytes: number;
  /** Number of callbacks by bucket of their duration (`DurationHistogram`). */
  readonly durations: Readonly<Record<string, number>>;
  /** Milliseconds; 0 without callbacks. */
  readonly maxDuration: number;
}

/** When the last callback was accepted, by name: milliseconds since the epoch. */
export interface LastAccepted {
  readonly bySource: Readonly<Record<string, number>>;
  readonly byRegion: Readonly<Record<string, number>>;
  /** By `<source>/<credential>`. */
  readonly byCredential: Readonly<Record<string, number>>;
}

/** A failed line of a job whose failure no later line of the same file settles. */
interface AttentionLine {
  readonly line: LedgerLine;
  /** ISO 8601; receipt of the first failed line of the job in this file. */
  readonly first: string;
}

/** The numbers of the segments that a file covers, by writer: ascending ranges, both ends included. */
export type CoveredNumbers = Readonly<Record<string, readonly (readonly [from: number, to: number])[]>>;

/** A row group of a Parquet file: the times of its first and last line, and whether it has a bloom filter. */
export interface RollupRowGroup {
  readonly rows: number;
  /** Milliseconds since the epoch. */
  readonly first: number;
  readonly last: number;
  readonly hasJobs: boolean;
}

/** The Parquet file of a rollup. */
export interface RollupParquet {
  readonly key: string;
  /** Size of the file. */
  readonly bytes: number;
  /** Bytes of the bloom filters and of the footer, which are the end of the file, and the CRC-32 of each. */
  readonly filters: number;
  readonly filtersCrc: number;
  readonly footer: number;
  readonly footerCrc: number;
  readonly groups: readonly RollupRowGroup[];
}

/** Figures for charts: of a file, or of all files of a day. */
export interface ChartRollup {
  readonly v: 1;
  /** Its own: a copy at another key counts as damaged. */
  readonly key: string;
  /** How many rollups the hour has; 1 for a day. */
  readonly files: number;
  /** By ten minutes, of a day by hours, from `start` in milliseconds since the epoch. Without empty ones. */
  readonly slots: readonly { readonly start: number; readonly groups: readonly RollupGroup[] }[];
  readonly lastAccepted: LastAccepted;
}

/**
 * The commit record of a file of a compacted hour: what it covers, what its Parquet file is, figures for charts, and what needs
 * attention. An hour is compacted when the rollups of all of its files exist.
 */
export interface Rollup extends ChartRollup {
  /** Folder of the hour, e.g. `dt=2026-03-04/hour=05/`. */
  readonly hour: string;
  /** Number of the file, from 1. */
  readonly n: number;
  /** Folder of the last hour before this one that has lines; null for the first. A lost hour is noticed by it. */
  readonly previous: string | null;
  readonly writers: CoveredNumbers;
  /** Null when the segments hold no line that can be read. */
  readonly parquet: RollupParquet | null;
  readonly rows: number;
  /** ISO 8601: when the first and the last of its segments with lines were written; null without rows. */
  readonly first: string | null;
  readonly last: string | null;
  /** Lines that are not in the Parquet file: damaged ones, and ones of a newer version. */
  readonly broken: number;
  readonly newer: number;
  /** In the order of receipt. */
  readonly attention: readonly AttentionLine[];
  /** Number of failed jobs that `attention` leaves out, at most; the Parquet file has them. */
  readonly attentionOmitted: number;
}
