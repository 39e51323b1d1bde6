import type { DatabaseSync } from 'node:sqlite';
import type { SentAttempt } from '../../domain/sent-attempt.js';
import { startOfHour } from '../../ledger/hours.js';
import { parseSegmentKey } from '../../ledger/segment-key.js';
import type { Positions } from './positions.js';

/** Adds attempts to send events. Triggers of the table mark the attempt that decides the outcome of its event. */
export function createAttemptRows(database: DatabaseSync, positions: Pick<Positions, 'runOf'>) {
  const insert = database.prepare(
    'INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)',
  );

  function placeOf(line: string | null): readonly [run: number | null, number: number | null] {
    const place = line === null ? null : parseSegmentKey(line);
    if (place === null) return [null, null];
    return [positions.runOf({ ...place, hour: startOfHour(place.hour) }), place.number];
  }

  return {
    add(id: number, subscriber: string, attempt: SentAttempt): void {
      const { event, jobId, source, type, at, status, error, ended, durationMs, line } = attempt;
      const rank = ended === null ? 0 : ended === 'delivered' ? 2 : 1;
      insert.run(
        id,
        subscriber,
        event,
        jobId,
        source,
        type,
        Date.parse(at),
        status,
        error,
        attempt.attempt,
        ended,
        durationMs,
        ...placeOf(line),
        rank,
      );
    },
  };
}
