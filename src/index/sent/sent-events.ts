import type { SQLInputValue } from 'node:sqlite';
import type { SourceScope } from '../../domain/rights.js';
import type { EventEnd } from '../../domain/sent-attempt.js';
import type { ReadableIndex } from '../readable-index.js';

/** Outcome of an event, by its deciding attempt; `waiting`: it failed and is retried. */
type EventOutcome = EventEnd | 'waiting';

/** An event that was tried. */
export interface IndexedEvent {
  readonly subscriber: string;
  readonly event: string;
  readonly job: string;
  readonly source: string | null;
  readonly type: string;
  /** Time of the attempt that decided the event, in milliseconds since the epoch; the following fields are of the same attempt. */
  readonly at: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly outcome: EventOutcome;
  /** Milliseconds. */
  readonly duration: number;
  readonly attempts: number;
}

const COLUMNS = `subscriber, event, job, source, type, at, status, error, coalesce(ended, 'waiting') AS outcome, duration,
  (SELECT count(DISTINCT b.at) FROM attempts b
   WHERE b.subscriber = a.subscriber AND b.event = a.event AND b.attempt > 0) AS attempts`;

/** The tried events of a job for all subscribers, oldest first. */
export function eventsOfJob({ database }: ReadableIndex, job: string): IndexedEvent[] {
  const rows = database.prepare(
    `SELECT ${COLUMNS} FROM attempts a WHERE decides AND job = ? ORDER BY at, subscriber, event`,
  );
  return rows.all(job) as unknown as IndexedEvent[];
}

/** Where a page of events begins. */
export type EventPosition = readonly [at: number, event: string];

export interface EventQuery {
  readonly subscriber: string;
  readonly job?: string | undefined;
  readonly outcome?: EventOutcome | undefined;
  readonly source?: string | undefined;
  readonly scope?: SourceScope | undefined;
  /** By the time of the attempt, from `since` until before `until`, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly limit: number;
  readonly before?: EventPosition | undefined;
}

/** Events of a subscriber that were tried, newest first. */
export function findEvents({ database }: ReadableIndex, query: EventQuery): IndexedEvent[] {
  const { conditions, values } = conditionsOf(query);
  const rows = database.prepare(
    `SELECT ${COLUMNS} FROM attempts a INDEXED BY ${indexFor(query)} WHERE decides AND ${conditions.join(' AND ')}
     ORDER BY at DESC, event DESC LIMIT ?`,
  );
  return rows.all(...values, query.limit) as unknown as IndexedEvent[];
}

function indexFor({ job, outcome }: EventQuery): string {
  if (job !== undefined) return 'attempts_by_job';
  // Most events are delivered; other outcomes are rare.
  return outcome === undefined || outcome === 'delivered' ? 'attempts_by_time' : 'attempts_by_end';
}

function conditionsOf({ subscriber, job, outcome, source, scope, since, until, before }: EventQuery) {
  const conditions = ['subscriber = ?'];
  const values: SQLInputValue[] = [subscriber];
  const add = (condition: string, ...given: readonly SQLInputValue[]) => {
    conditions.push(condition);
    values.push(...given);
  };
  if (job !== undefined) add('job = ?', job);
  if (outcome !== undefined) add('ended IS ?', outcome === 'waiting' ? null : outcome);
  if (source !== undefined) add('source = ?', source);
  if (scope != null) add('source IN (SELECT value FROM json_each(?))', JSON.stringify([...scope]));
  if (since !== undefined) add('at >= ?', since);
  if (until !== undefined) add('at < ?', until);
  if (before !== undefined) add('(at, event) < (?, ?)', ...before);
  return { conditions, values };
}

/** The sources of some events of a subscriber; events that were never tried are left out. */
export function sourcesOfEvents(
  { database }: ReadableIndex,
  subscriber: string,
  events: readonly string[],
): Pick<IndexedEvent, 'event' | 'source'>[] {
  const rows = database.prepare(
    `SELECT event, source FROM attempts
     WHERE decides AND subscriber = ? AND event IN (SELECT value FROM json_each(?))`,
  );
  return rows.all(subscriber, JSON.stringify(events)) as unknown as IndexedEvent[];
}
