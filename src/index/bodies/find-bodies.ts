import type { SQLInputValue } from 'node:sqlite';
import type { QuarantineState } from '../../domain/quarantined-body.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { PlacedLine } from '../../ledger/log/read-lines-at.js';
import { idsOf } from '../line-classes.js';
import { placesOf } from '../line-places.js';
import type { ReadableIndex } from '../readable-index.js';

/** Filters for quarantined bodies; an absent one matches everything. */
export interface BodyQuery {
  readonly state?: QuarantineState | undefined;
  /** Delivery id of the only body. */
  readonly delivery?: string | undefined;
  readonly job?: string | undefined;
  readonly source?: string | undefined;
  readonly region?: string | undefined;
  readonly reason?: string | undefined;
  /** Only bodies received at or after this time, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Only bodies of these sources. Default: all. */
  readonly scope?: SourceScope | undefined;
  /** A cursor: only bodies before this delivery. */
  readonly before?: string | undefined;
  readonly limit: number;
}

export interface IndexedBody {
  readonly delivery: string;
  readonly state: QuarantineState;
  readonly line: PlacedLine | null;
  /** The line of the release. */
  readonly released: PlacedLine | null;
  /** The line of the first act that settled it; null where its job has what it should have brought. */
  readonly settled: PlacedLine | null;
}

/** The bodies that match, newest first. */
export function findBodies(index: ReadableIndex, { limit, ...query }: BodyQuery): IndexedBody[] {
  const { database, classes } = index;
  const { state, delivery, job, since, before, scope = null } = query;
  const wanted = classes
    .all()
    .filter(
      (each) =>
        isInScope(scope, each.source) &&
        (['source', 'region', 'reason'] as const).every(
          (name) => query[name] === undefined || query[name] === each[name],
        ),
    );
  const conditions = [`class IN (${idsOf(wanted)})`];
  const values: SQLInputValue[] = [];
  const add = (condition: string, value: SQLInputValue | undefined) => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  add('state = ?', state);
  add('delivery = ?', delivery);
  add('job = ?', job);
  add('received >= ?', since);
  add('delivery < ?', before);
  const rows = database.prepare(
    `SELECT id, delivery, state, released, settled FROM bodies WHERE ${conditions.join(' AND ')}
     ORDER BY delivery DESC, id LIMIT ?`,
  );
  const found = rows.all(...values, limit);
  const ids = found.flatMap(({ id, released, settled }) => [id, released, settled]);
  const known = [...new Set(ids.filter((id) => id !== null))].map(Number);
  const places = placesOf(index, known);
  const placeOf = new Map(known.map((id, at) => [id, places[at] ?? null]));
  return found.map(({ delivery: name, state: of, id, released, settled }) => ({
    delivery: String(name),
    state: of as QuarantineState,
    line: placeOf.get(Number(id)) ?? null,
    released: placeOf.get(Number(released)) ?? null,
    settled: placeOf.get(Number(settled)) ?? null,
  }));
}

/** Numbers of bodies by state. */
export interface BodyFigures extends Readonly<Record<QuarantineState, number>> {
  readonly waitingBytes: number;
}

/** @param since counts bodies received at or after this time, in milliseconds since the epoch */
export function countBodies({ database }: ReadableIndex, since: number): BodyFigures {
  const rows = database
    .prepare(
      'SELECT state, count(*) AS count, sum(bytes) AS bytes FROM bodies WHERE received >= ? GROUP BY 1',
    )
    .all(since);
  const of = (state: QuarantineState) => rows.find((row) => row.state === state);
  const count = (state: QuarantineState) => Number(of(state)?.count ?? 0);
  return {
    waiting: count('waiting'),
    waitingBytes: Number(of('waiting')?.bytes ?? 0),
    released: count('released'),
    settled: count('settled'),
  };
}
