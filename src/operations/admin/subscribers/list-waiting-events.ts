import { Problem } from '../../../domain/problem.js';
import { decodePlace, encodePlace, pageOf } from '../../../lib/text/list-cursor.js';
import type { OutboxReader, WaitingQuery } from '../../../subscribers/outbox-reader.js';
import type { WaitingEvent } from '../../../subscribers/outbox-state.js';
import { DamagedStateError } from '../../../subscribers/outbox-store.js';
import type { WaitingEventList } from '../../answers/subscribers.js';

interface WaitingPageQuery extends Omit<WaitingQuery, 'after'> {
  readonly cursor?: string | undefined;
}

/** Events that wait for a retry, the next one first. Rejects with `conflict` where the subscriber's state is damaged. */
export async function listWaitingEvents(
  outbox: Pick<OutboxReader, 'waitingEvents'>,
  subscriber: string,
  { scope, limit, cursor }: WaitingPageQuery,
): Promise<WaitingEventList> {
  const after = cursor === undefined ? undefined : decodePlace('waiting', cursor, placeOf);
  const query = { scope, limit: limit + 1, after };
  const waiting = await outbox.waitingEvents(subscriber, query).catch((error: unknown) => {
    if (error instanceof DamagedStateError) throw new Problem('conflict', `${error.message}.`);
    throw error;
  });
  const { rows, nextCursor } = pageOf(waiting, limit, ({ nextTryAt, id }) =>
    encodePlace('waiting', [nextTryAt, id]),
  );
  return { waitingEvents: rows.map(shown), nextCursor };
}

function placeOf([nextTryAt, id]: readonly unknown[]): WaitingQuery['after'] | null {
  return typeof nextTryAt === 'number' && typeof id === 'string' ? { nextTryAt, id } : null;
}

function shown({ id, jobId, receivedAt, firstTriedAt, nextTryAt, attempts, history }: WaitingEvent) {
  const times = {
    firstTriedAt: new Date(firstTriedAt).toISOString(),
    nextTryAt: new Date(nextTryAt).toISOString(),
  };
  return { id, jobId, receivedAt, ...times, attempts, history: [...history] };
}
