import { Problem } from '../../../domain/problem.js';
import type { SourceScope } from '../../../domain/rights.js';
import type { OutboxReader } from '../../../subscribers/outbox-reader.js';
import type { WaitingEvent } from '../../../subscribers/outbox-state.js';
import { DamagedStateError } from '../../../subscribers/outbox-store.js';
import type { WaitingEventList } from '../../answers/subscribers.js';

/** Events that wait for a retry, the next one first. Rejects with `conflict` where the subscriber's state is damaged. */
export async function listWaitingEvents(
  outbox: Pick<OutboxReader, 'waitingEvents'>,
  subscriber: string,
  scope: SourceScope = null,
): Promise<WaitingEventList['waitingEvents']> {
  const waiting = await outbox.waitingEvents(subscriber, scope).catch((error: unknown) => {
    if (error instanceof DamagedStateError) throw new Problem('conflict', `${error.message}.`);
    throw error;
  });
  return waiting.map(shown);
}

function shown({ id, jobId, receivedAt, firstTriedAt, nextTryAt, attempts, history }: WaitingEvent) {
  const times = {
    firstTriedAt: new Date(firstTriedAt).toISOString(),
    nextTryAt: new Date(nextTryAt).toISOString(),
  };
  return { id, jobId, receivedAt, ...times, attempts, history: [...history] };
}
