import type { SQLInputValue } from 'node:sqlite';
import { CALLBACK_RETRY_WINDOW, TRANSIENT_REASONS } from '../../domain/callback-retries.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { PlacedLine } from '../../ledger/log/read-lines-at.js';
import { idsOf, type LineClass, type LineClasses } from '../line-classes.js';
import { JOIN_PLACE, orderOf, PLACE, placeOfRow } from '../line-places.js';
import type { ReadableIndex } from '../readable-index.js';

/** Filters for failing jobs; an absent one matches everything. */
export interface FailingQuery {
  /** One outcome, or any of several. */
  readonly outcome?: string | readonly string[] | undefined;
  readonly source?: string | undefined;
  readonly region?: string | undefined;
  /** Only failures with this cause. */
  readonly cause?: string | undefined;
  /** Only failures at or after this time, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Excludes rejected callbacks that the service still retries at this time, in milliseconds since the epoch. */
  readonly givenUpBy?: number | undefined;
  /** Only failures that exist for a client with these sources. Default: all. */
  readonly scope?: SourceScope | undefined;
}

/** A failing job in the order of the list: `first` of `IndexedFailure`, and its id. */
export type FailurePosition = readonly [first: number, job: string];

/** A job whose last outcome is a failure. */
export interface IndexedFailure {
  readonly job: string;
  /** The line that makes it fail. */
  readonly place: PlacedLine;
  readonly outcome: string;
  /** Receipt of the first line of the job, or when its callback was expected, if that is earlier; in milliseconds since the epoch. */
  readonly first: number;
}

export interface FailuresQuery extends FailingQuery {
  /** Default: all. */
  readonly limit?: number;
  /** A cursor: only jobs after this position. */
  readonly after?: FailurePosition | null;
}

/** Failing jobs that match; those whose results the service deletes first come first. */
export function findFailures(
  { database, classes }: ReadableIndex,
  { limit = -1, after = null, ...query }: FailuresQuery = {},
): IndexedFailure[] {
  const { from, values } = failingLines(classes, query);
  const behind = after === null ? '' : 'AND (f.first, f.job) > (?, ?)';
  const page = `SELECT f.job, f.class, f.first, f.line AS id, f.start, f.length ${from} ${behind} ORDER BY f.first, f.job LIMIT ?`;
  const rows = database.prepare(
    `SELECT l.job, l.class, l.first, ${PLACE} FROM (${page}) l ${JOIN_PLACE} ORDER BY l.first, l.job`,
  );
  return rows.all(...values, ...(after ?? []), limit).map((row) => ({
    job: String(row.job),
    place: placeOfRow(row),
    outcome: classes.byId(Number(row.class)).outcome,
    first: Number(row.first),
  }));
}

/** FROM and WHERE of a statement for the failing line `f` of each job that matches, and its values. */
export function failingLines(classes: LineClasses, query: FailingQuery) {
  const { scope = null, outcome, source, region, since, givenUpBy, cause } = query;
  const visible = classes.all().filter((each) => isInScope(scope, each.source));
  const wanted = visible.filter(
    (each) =>
      (outcome === undefined || [outcome].flat().includes(each.outcome)) &&
      (source === undefined || each.source === source) &&
      (region === undefined || each.region === region),
  );
  const conditions = [`f.class IN (${idsOf(wanted)})`, `NOT EXISTS (${countsBefore(visible)})`];
  const values: SQLInputValue[] = [];
  const add = (text: string, ...more: readonly SQLInputValue[]) => {
    conditions.push(text);
    values.push(...more);
  };
  if (since !== undefined) add('f.received >= ?', since);
  if (givenUpBy !== undefined) {
    const reasons = TRANSIENT_REASONS.map(() => '?').join(', ');
    const isTried = `f.class IN (${withOutcome(wanted, 'refused')}) AND coalesce(f.reason, '') IN (${reasons}) AND f.received > ?`;
    add(`NOT (${isTried})`, ...TRANSIENT_REASONS, givenUpBy - CALLBACK_RETRY_WINDOW);
  }
  // As `causeOf`: the cause of a conflict is its outcome; else it is the reason, or without one the outcome.
  if (cause !== undefined) {
    const ofOutcome = `f.class IN (${withOutcome(wanted, cause)})`;
    const isConflict = `f.class IN (${withOutcome(wanted, 'conflict')})`;
    add(
      `((NOT ${isConflict} AND f.reason = ?) OR (${ofOutcome} AND (f.reason IS NULL OR ${isConflict})))`,
      cause,
    );
  }
  return { from: `FROM failures f WHERE ${conditions.join(' AND ')}`, values };
}

/**
 * SQL for a failing line of the same job that has precedence over `f`: a conflict, which only an operator settles; else the newer line, and
 * for equal times the one that is later in the log.
 */
function countsBefore(visible: readonly LineClass[]): string {
  const rank = (line: string) => `${line}.class IN (${withOutcome(visible, 'conflict')}), ${line}.received`;
  // The plus keeps SQLite from seeking each class of the job instead of reading its few lines.
  return `SELECT 1 FROM failures o WHERE o.job = f.job AND +o.class IN (${idsOf(visible)}) AND o.class <> f.class
    AND ((${rank('o')}) > (${rank('f')}) OR ((${rank('o')}) = (${rank('f')}) AND ${orderOf('o.line')} > ${orderOf('f.line')}))`;
}

function withOutcome(classes: readonly LineClass[], outcome: string): string {
  return idsOf(classes.filter((each) => each.outcome === outcome));
}
