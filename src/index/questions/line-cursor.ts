import { Problem } from '../../domain/problem.js';
import type { LinePlace } from '../../ledger/log/line-place.js';

/** A cursor is the place of the last line of a page, so that it stays right while lines arrive and hours are merged. */
export function encodeCursor({ written, writer, number, line }: LinePlace): string {
  return Buffer.from(JSON.stringify([written, writer, number, line])).toString('base64url');
}

/** Throws `Problem` `request-invalid` for a cursor that `encodeCursor` did not make. */
export function decodeCursor(cursor: string): LinePlace {
  try {
    const [written, writer, number, line] = JSON.parse(
      Buffer.from(cursor, 'base64url').toString(),
    ) as unknown[];
    const isPlace = [written, number, line].every((value) => Number.isSafeInteger(value));
    if (isPlace && typeof writer === 'string')
      return { written: Number(written), writer, number: Number(number), line: Number(line) };
  } catch {
    // Falls through to the error for every bad cursor.
  }
  throw badCursor();
}

export function badCursor(): Problem {
  return new Problem('request-invalid', 'The cursor is not one this API gave out.');
}
