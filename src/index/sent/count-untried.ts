import type { DatabaseSync } from 'node:sqlite';
import { HOUR, startOfHour } from '../../ledger/hours.js';
import { idsOf, type LineClass, type LineClasses } from '../line-classes.js';
import type { ReadableIndex } from '../readable-index.js';
import { LINES } from '../schema.js';

/** The last number of each writer that was read, by the folder of the hour. */
type HourNumbers = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The events of a subscriber, and the position of its sender. */
export interface UntriedQuery {
  readonly subscriber: string;
  readonly events: readonly string[];
  /** Empty: all. */
  readonly sources: readonly string[];
  /** The sender has read all hours that began before this time, in milliseconds since the epoch. */
  readonly before: number;
  /** Last numbers read, per hour. */
  readonly hours: HourNumbers;
}

/** Events of one source that were not tried. */
export interface UntriedEvents {
  readonly source: string | null;
  readonly events: number;
  /** When the first of them was written, in milliseconds since the epoch. */
  readonly oldest: number;
}

/** Counts lines after the position of a sender whose event has no attempt on record, by source. */
export function countUntried({ database, classes }: ReadableIndex, query: UntriedQuery): UntriedEvents[] {
  const wanted = classes
    .all()
    .filter(
      ({ event, source }) =>
        event !== null &&
        query.events.includes(event) &&
        (query.sources.length === 0 || (source !== null && query.sources.includes(source))),
    );
  if (wanted.length === 0) return [];
  const begun = Object.entries(query.hours).map(([hour, numbers]) => [startOfHour(hour), numbers] as const);
  const counted = [
    ...begun.flatMap((each) => untriedInHour(database, classes, query.subscriber, wanted, ...each)),
    ...untriedInOtherHours(
      database,
      query,
      wanted,
      begun.map(([hour]) => hour),
    ),
  ];
  return [...Map.groupBy(counted, ({ source }) => source)].map(([source, own]) => ({
    source,
    events: own.reduce((sum, { events }) => sum + events, 0),
    // Not `Math.min(...)`: there is an entry per segment, too many for the arguments of a call.
    oldest: own.reduce((first, { oldest }) => Math.min(first, oldest), Number.POSITIVE_INFINITY),
  }));
}

/** Counts in an hour that the sender has begun: lines after its numbers, segment by segment. */
function untriedInHour(
  database: DatabaseSync,
  classes: LineClasses,
  subscriber: string,
  wanted: readonly LineClass[],
  hour: number,
  numbers: Readonly<Record<string, number>>,
): UntriedEvents[] {
  const behind = `runs r LEFT JOIN json_each(?) p ON p.key = r.writer`;
  const values = [JSON.stringify(numbers), hour] as const;
  const tried = new Map<string, number>();
  const attempts = database.prepare(
    `SELECT a.run, a.number, a.source, count(DISTINCT a.event) AS events FROM ${behind}
       CROSS JOIN attempts a ON a.run = r.id AND a.number > coalesce(p.value, 0)
     WHERE r.hour = ? AND a.subscriber = ? GROUP BY a.run, a.number, a.source`,
  );
  const nameOf = ({ run, number }: Readonly<Record<string, unknown>>, source: unknown) =>
    JSON.stringify([run, number, source]);
  for (const row of attempts.all(...values, subscriber))
    tried.set(nameOf(row, row.source), Number(row.events));
  // The plus keeps SQLite from scanning all lines of a class for each segment.
  const lines = database.prepare(
    `SELECT s.run, s.number, s.written, l.class, count(*) AS lines FROM ${behind}
       CROSS JOIN segments s ON s.run = r.id AND s.number > coalesce(p.value, 0)
       CROSS JOIN lines l ON l.id >= s.id * ${LINES} AND l.id < (s.id + 1) * ${LINES}
     WHERE r.hour = ? AND +l.class IN (${idsOf(wanted)}) GROUP BY s.id, l.class ORDER BY s.id`,
  );
  const found: UntriedEvents[] = [];
  for (const row of lines.all(...values)) {
    const { source } = classes.byId(Number(row.class));
    const name = nameOf(row, source);
    const done = Math.min(Number(row.lines), tried.get(name) ?? 0);
    tried.set(name, (tried.get(name) ?? 0) - done);
    const events = Number(row.lines) - done;
    if (events > 0) found.push({ source, events, oldest: Number(row.written) });
  }
  return found;
}

/** Counts in all later hours. @param begun hours that are counted separately */
function untriedInOtherHours(
  database: DatabaseSync,
  { subscriber, before }: UntriedQuery,
  wanted: readonly LineClass[],
  begun: readonly number[],
): UntriedEvents[] {
  const others = begun.join(', ');
  const lines = database.prepare(
    `SELECT sum(lines) AS lines FROM figures
     WHERE width = ${HOUR} AND start >= ? AND class = ? AND start NOT IN (${others})`,
  );
  const first = database.prepare(
    `SELECT min(written) AS written FROM lines
     WHERE class = ? AND written >= ? AND written - written % ${HOUR} NOT IN (${others})`,
  );
  const attempts = database.prepare(
    `SELECT count(DISTINCT a.event) AS events FROM runs r CROSS JOIN attempts a ON a.run = r.id
     WHERE r.hour >= ? AND r.hour NOT IN (${others}) AND a.subscriber = ? AND a.source IS ?`,
  );
  return [...new Set(wanted.map(({ source }) => source))].flatMap((source) => {
    const own = wanted.filter((each) => each.source === source);
    const all = own.reduce((sum, { id }) => sum + Number(lines.get(before, id)?.lines ?? 0), 0);
    const done = all === 0 ? 0 : Number(attempts.get(before, subscriber, source)?.events ?? 0);
    if (all <= done) return [];
    const times = own.flatMap(({ id }) => first.get(id, before)?.written ?? []);
    return [{ source, events: all - done, oldest: Math.min(...times.map(Number)) }];
  });
}
