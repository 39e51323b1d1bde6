import { Problem } from '../../../domain/problem.js';

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

/** Cursors name a position, not a number of lines, so that they stay right while lines arrive and hours are compacted. */
export function encodeCursor({ written, id, outcome }: LogPosition): string {
  return Buffer.from(JSON.stringify([written, id, outcome])).toString('base64url');
}

/** Throws `Problem` `request-invalid` for a cursor that `encodeCursor` did not make. */
export function decodeCursor(cursor: string): LogPosition {
  try {
    const [written, id, outcome] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (isTime(written) && typeof id === 'string' && typeof outcome === 'string')
      return { written, id, outcome };
  } catch {
    // Falls through to the error for every bad cursor.
  }
  throw new Problem('request-invalid', 'The cursor is not one this API gave out.');
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= END_OF_TIME;
}
