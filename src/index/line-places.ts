import type { PlacedLine } from '../ledger/log/read-lines-at.js';
import type { ReadableIndex } from './readable-index.js';
import { LINES } from './schema.js';

/** Joins a line `l`, or a row with its `id`, `start` and `length`, to its place. SQLite keeps the order of a CROSS JOIN. */
export const JOIN_PLACE = `CROSS JOIN segments s ON s.id = l.id / ${LINES} CROSS JOIN runs r ON r.id = s.run`;
/** Columns of the place in such a join. */
export const PLACE = `r.hour, s.written, r.writer, s.number, l.id % ${LINES} AS line, l.start, l.length`;

/** A comparable SQL row with the place of a line in the order of the log, by its id. */
export function orderOf(id: string): string {
  return `(SELECT s.written, r.writer, s.number, ${id} % ${LINES} FROM segments s JOIN runs r ON r.id = s.run
    WHERE s.id = ${id} / ${LINES})`;
}

export function placeOfRow(row: Readonly<Record<string, unknown>>): PlacedLine {
  const { hour, written, writer, number, line, start, length } = row;
  return {
    hour: Number(hour),
    written: Number(written),
    writer: String(writer),
    number: Number(number),
    line: Number(line),
    span: { start: Number(start), length: Number(length) },
  };
}

/** The places of lines by their ids; null for one that is no longer in the index. */
export function placesOf({ database }: ReadableIndex, lines: readonly number[]): (PlacedLine | null)[] {
  const find = database.prepare(`SELECT ${PLACE} FROM lines l ${JOIN_PLACE} WHERE l.id = ?`);
  return lines.map((id) => {
    const row = find.get(id);
    return row === undefined ? null : placeOfRow(row);
  });
}
