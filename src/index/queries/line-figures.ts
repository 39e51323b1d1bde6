import type { DatabaseSync } from 'node:sqlite';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { FigureWidth } from '../figure-widths.js';
import type { LineClass, LineClasses } from '../line-classes.js';

/** Sums of the lines of a stretch of time that agree in these fields. */
export interface LineFigures extends Omit<LineClass, 'id'> {
  /** When the stretch began, in milliseconds since the epoch. */
  readonly start: number;
  readonly lines: number;
  readonly bytes: number;
  /** Milliseconds that the longest callback took; 0 without callbacks. */
  readonly longest: number;
  /** Receipt of the last line, in milliseconds since the epoch. */
  readonly latest: number;
  /** Callbacks by the bucket of their duration: bucket, count, bucket, count, … */
  readonly durations: readonly number[];
}

export interface FigureQuery {
  readonly width: FigureWidth;
  /** Stretches that begin from `since` until before `until`, in milliseconds since the epoch. */
  readonly since: number;
  readonly until: number;
  readonly scope?: SourceScope | undefined;
}

export function lineFigures(
  database: DatabaseSync,
  classes: LineClasses,
  { width, since, until, scope = null }: FigureQuery,
): LineFigures[] {
  const range = 'WHERE width = ? AND start >= ? AND start < ?';
  const durations = new Map<string, number[]>();
  const buckets = database.prepare(
    `SELECT start, class, bucket, lines FROM durations ${range} ORDER BY start, class, bucket`,
  );
  for (const { start, class: id, bucket, lines } of buckets.iterate(width, since, until)) {
    const name = `${start} ${id}`;
    const known = durations.get(name) ?? [];
    known.push(Number(bucket), Number(lines));
    durations.set(name, known);
  }
  const sums = database.prepare(`SELECT * FROM figures ${range} ORDER BY start, class`);
  return sums.all(width, since, until).flatMap(({ start, class: classId, lines, bytes, longest, latest }) => {
    const { id, ...fields } = classes.byId(Number(classId));
    if (!isInScope(scope, fields.source)) return [];
    const sum = {
      start: Number(start),
      lines: Number(lines),
      bytes: Number(bytes),
      longest: Number(longest),
      latest: Number(latest),
    };
    return [{ ...fields, ...sum, durations: durations.get(`${start} ${id}`) ?? [] }];
  });
}
