import type { PlacedLine } from '../ledger/log/read-lines-at.js';
import type { AskedIndex } from './asked-index.js';
import { LINES } from './schema.js';

/** Joins a row with a column `id` of a line to the place of that line. SQLite keeps the order of a CROSS JOIN. */
export const JOIN_PLACE = `CROSS JOIN segments s ON s.id = l.id / ${LINES} CROSS JOIN runs r ON r.id = s.run
  LEFT JOIN lines text ON text.id = l.id`;
/** Columns of the place, from such a join. */
export const PLACE = `r.hour, s.written, r.writer, s.number, l.id % ${LINES} AS line, text.start, text.length`;

export function placeOfRow(row: Readonly<Record<string, unknown>>): PlacedLine {
  const { hour, written, writer, number, line, start, length } = row;
  return {
    hour: Number(hour),
    written: Number(written),
    writer: String(writer),
    number: Number(number),
    line: Number(line),
    // A job may fail for longer than the index has its line.
    span: start === null ? null : { start: Number(start), length: Number(length) },
  };
}

/** The places of lines by their ids; null for one that is not in the index any more. */
export function placesOf({ database }: AskedIndex, lines: readonly number[]): (PlacedLine | null)[] {
  const find = database.prepare(`SELECT ${PLACE} FROM (SELECT CAST(? AS INTEGER) AS id) l ${JOIN_PLACE}`);
  return lines.map((id) => {
    const row = find.get(id);
    return row === undefined ? null : placeOfRow(row);
  });
}
