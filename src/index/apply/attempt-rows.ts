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

  function positionOf(line: string | null): readonly [run: number | null, number: number | null] {
    const segment = line === null ? null : parseSegmentKey(line);
    if (segment === null) return [null, null];
    return [positions.runOf({ ...segment, hour: startOfHour(segment.hour) }), segment.number];
  }

  return {
    add(id: number, subscriber: string, attempt: SentAttempt): void {
      const { event, jobId, source, type, at, status, error, ended, durationMs, line } = attempt;
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
        ...positionOf(line),
        rankOf(ended),
      );
    },
  };
}

/**
 * Rank of an attempt among those of its event: the highest one decides the outcome. A replay that failed ends nothing, and comes after the
 * attempts of the sender.
 */
function rankOf(ended: SentAttempt['ended']): number {
  if (ended === 'failed') return -1;
  if (ended === null) return 0;
  return ended === 'delivered' ? 2 : 1;
}
