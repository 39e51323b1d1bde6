import type { ReadableIndex } from '../readable-index.js';

/** An attempt that failed. */
interface IndexedFailedAttempt {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly status: number | null;
  readonly error: string | null;
}

/** Figures of the events of one source that were sent to a subscriber. */
export interface EventFigures {
  readonly source: string | null;
  /** Events. */
  readonly delivered: number;
  /** Milliseconds since the epoch; null without one. */
  readonly lastDelivered: number | null;
  /** Attempts after the first one. */
  readonly retried: number;
  /** The last attempt that failed; stays after later successes. */
  readonly lastFailure: IndexedFailedAttempt | null;
}

type Changing = { -readonly [Name in keyof EventFigures]: EventFigures[Name] };

/** Figures by source. Sources whose events were all dropped before a second attempt are left out. */
export function eventFigures({ database }: ReadableIndex, subscriber: string): EventFigures[] {
  const figures = new Map<string | null, Changing>();
  const of = (name: unknown) => {
    const source = name === null ? null : String(name);
    const nothing = { delivered: 0, lastDelivered: null, retried: 0, lastFailure: null };
    const known = figures.get(source) ?? { source, ...nothing };
    figures.set(source, known);
    return known;
  };
  const all = (text: string) => database.prepare(text).all(subscriber);
  const delivered =
    all(`SELECT source, count(*) AS events, max(at) AS last FROM attempts INDEXED BY attempts_by_end
    WHERE decides AND subscriber = ? AND ended = 'delivered' GROUP BY source`);
  for (const { source, events, last } of delivered)
    Object.assign(of(source), { delivered: Number(events), lastDelivered: Number(last) });
  const repeated = all(
    'SELECT source, count(*) AS attempts FROM attempts WHERE attempt > 1 AND subscriber = ? GROUP BY source',
  );
  for (const { source, attempts } of repeated) of(source).retried = Number(attempts);
  // SQLite takes the other columns from the row of the maximum.
  const failed = all(`SELECT source, max(at) AS at, status, error FROM attempts
    WHERE rank < 2 AND subscriber = ? AND ended IS NOT 'dropped' GROUP BY source`);
  for (const { source, at, status, error } of failed)
    of(source).lastFailure = {
      at: Number(at),
      status: status === null ? null : Number(status),
      error: error === null ? null : String(error),
    };
  return [...figures.values()];
}
