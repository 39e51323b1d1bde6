import { Problem } from '../domain/problem.js';

/** A position in the order of the ledger: by time of receipt, then by id, then by outcome. Rows are positions too. */
export interface RowPosition {
  readonly time: number;
  readonly id: string;
  readonly outcome: string;
}

export function comparePositions(a: RowPosition, b: RowPosition): number {
  if (a.time !== b.time) return a.time - b.time;
  if (a.id !== b.id) return a.id < b.id ? -1 : 1;
  if (a.outcome !== b.outcome) return a.outcome < b.outcome ? -1 : 1;
  return 0;
}

/** The position before everything that was received at an instant. */
export function beforeInstant(time: number): RowPosition {
  return { time, id: '', outcome: '' };
}

/** Cursors name a position, not a number of rows, so that they stay right while lines arrive. */
export function encodeCursor({ time, id, outcome }: RowPosition): string {
  return Buffer.from(JSON.stringify([time, id, outcome])).toString('base64url');
}

/** Throws `Problem` `request-invalid` for a cursor that `encodeCursor` did not make. */
export function decodeCursor(cursor: string): RowPosition {
  try {
    const [time, id, outcome] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    // The range of Date ends at 8.64e15.
    const timeIsValid = typeof time === 'number' && Math.abs(time) <= 8.64e15;
    if (timeIsValid && typeof id === 'string' && typeof outcome === 'string') return { time, id, outcome };
  } catch {
    // Falls through to the error for every bad cursor.
  }
  throw new Problem('request-invalid', 'The cursor is not one this API gave out.');
}
