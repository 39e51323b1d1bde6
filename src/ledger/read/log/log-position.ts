/**
 * A position in the order of the log, which is the order of writing: by the time at which the store wrote the segment, then by
 * delivery id and outcome. It is the same whether a line is read from memory, from its segment or from Parquet.
 */
export interface LogPosition {
  /** Milliseconds since the epoch. */
  readonly written: number;
  readonly id: string;
  readonly outcome: string;
}

/** The order in which the log is read. */
export type LogOrder = 'newest' | 'oldest';

export function comparePositions(a: LogPosition, b: LogPosition): number {
  if (a.written !== b.written) return a.written - b.written;
  if (a.id !== b.id) return a.id < b.id ? -1 : 1;
  if (a.outcome !== b.outcome) return a.outcome < b.outcome ? -1 : 1;
  return 0;
}

/** The position before everything that was written at an instant. */
export function beforeInstant(written: number): LogPosition {
  return { written, id: '', outcome: '' };
}

const END_OF_TIME = 8.64e15;
/** The position after everything. */
export const END_OF_LOG = beforeInstant(END_OF_TIME);
