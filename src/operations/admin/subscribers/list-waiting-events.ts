import { Problem } from '../../../domain/problem.js';
import type { OutboxReader, WaitingQuery } from '../../../subscribers/outbox-reader.js';
import type { WaitingEvent } from '../../../subscribers/outbox-state.js';
import { DamagedStateError } from '../../../subscribers/outbox-store.js';
import type { WaitingEventList } from '../../answers/subscribers.js';

/** Events that wait for a retry, the next one first. Rejects with `conflict` where the subscriber's state is damaged. */
export async function listWaitingEvents(
  outbox: Pick<OutboxReader, 'waitingEvents'>,
  subscriber: string,
  query: WaitingQuery,
): Promise<WaitingEventList> {
  const waiting = await outbox.waitingEvents(subscriber, query).catch((error: unknown) => {
    if (error instanceof DamagedStateError) throw new Problem('conflict', `${error.message}.`);
    throw error;
  });
  return { waitingEvents: waiting.map(shown) };
}

function shown({ id, jobId, receivedAt, firstTriedAt, nextTryAt, attempts, history }: WaitingEvent) {
  const times = {
    firstTriedAt: new Date(firstTriedAt).toISOString(),
    nextTryAt: new Date(nextTryAt).toISOString(),
  };
  return { id, jobId, receivedAt, ...times, attempts, history: [...history] };
}
