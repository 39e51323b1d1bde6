import type { DatabaseSync } from 'node:sqlite';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { LineClass, LineClasses } from '../line-classes.js';

/** Sums of the lines of an hour that agree in these fields. */
export interface HourlyFigures extends Omit<LineClass, 'id'> {
  /** When the hour began, in milliseconds since the epoch. */
  readonly hour: number;
  readonly lines: number;
  readonly bytes: number;
  /** Milliseconds that the longest callback took; 0 without callbacks. */
  readonly longest: number;
  /** Receipt of the last line, in milliseconds since the epoch. */
  readonly latest: number;
  /** Callbacks by the bucket of their duration: bucket, count, bucket, count, … */
  readonly durations: readonly number[];
}

/** Figures of the hours that begin from `since` until before `until`, in milliseconds since the epoch. */
export function hourlyFigures(
  database: DatabaseSync,
  classes: LineClasses,
  {
    since,
    until,
    scope = null,
  }: { readonly since: number; readonly until: number; readonly scope?: SourceScope },
): HourlyFigures[] {
  const durations = new Map<string, number[]>();
  const buckets = database.prepare(
    'SELECT hour, class, bucket, lines FROM durations WHERE hour >= ? AND hour < ? ORDER BY hour, class, bucket',
  );
  for (const { hour, class: id, bucket, lines } of buckets.iterate(since, until)) {
    const name = `${hour} ${id}`;
    const known = durations.get(name) ?? [];
    known.push(Number(bucket), Number(lines));
    durations.set(name, known);
  }
  const sums = database.prepare('SELECT * FROM figures WHERE hour >= ? AND hour < ? ORDER BY hour, class');
  return sums.all(since, until).flatMap(({ hour, class: classId, lines, bytes, longest, latest }) => {
    const { id, ...fields } = classes.byId(Number(classId));
    if (!isInScope(scope, fields.source)) return [];
    const sum = {
      hour: Number(hour),
      lines: Number(lines),
      bytes: Number(bytes),
      longest: Number(longest),
      latest: Number(latest),
    };
    return [{ ...fields, ...sum, durations: durations.get(`${hour} ${id}`) ?? [] }];
  });
}
