import type { LinePlace } from '../../ledger/log/line-place.js';
import { decodePlace, encodePlace } from '../../lib/text/list-cursor.js';

/** A cursor is the place of the last line of a page, so that it stays right while lines arrive and hours are merged. */
export function encodeCursor({ written, writer, number, line }: LinePlace): string {
  return encodePlace('deliveries', [written, writer, number, line]);
}

/** Throws `Problem` `request-invalid` for a cursor that `encodeCursor` did not make. */
export function decodeCursor(cursor: string): LinePlace {
  return decodePlace('deliveries', cursor, ([written, writer, number, line]) => {
    const isPlace = [written, number, line].every((value) => Number.isSafeInteger(value));
    if (!isPlace || typeof writer !== 'string') return null;
    return { written: Number(written), writer, number: Number(number), line: Number(line) };
  });
}
