import { followsAnyInScope, type SourceScope } from '../domain/rights.js';
import type { ObjectStore } from '../store/object-store.js';
import { type DeadEventQuery, listDeadEvents, readDeadEvent } from './dead-events.js';
import type { OutboxState } from './outbox-state.js';
import { createOutboxStore, DamagedStateError } from './outbox-store.js';
import type { Subscriber } from './subscriber.js';
import { type SubscriberStatus, subscriberStatus } from './subscriber-status.js';

export type OutboxReader = ReturnType<typeof createOutboxReader>;

/** Reads status and dead events of the subscribers from the store, for all replicas. */
export function createOutboxReader(store: ObjectStore, subscribers: Readonly<Record<string, Subscriber>>) {
  /** A damaged state must not affect other subscribers. */
  async function savedState(name: string): Promise<OutboxState | null | 'damaged'> {
    return createOutboxStore(store, name)
      .read()
      .catch((error: unknown) => {
        if (error instanceof DamagedStateError) return 'damaged';
        throw error;
      });
  }

  return {
    /** Status of each configured subscriber that follows a source of the scope. */
    async statuses(scope: SourceScope = null): Promise<SubscriberStatus[]> {
      const visible = Object.entries(subscribers).filter(([, one]) => followsAnyInScope(scope, one.sources));
      return Promise.all(
        visible.map(async ([name, subscriber]) =>
          subscriberStatus(name, subscriber, await savedState(name), scope),
        ),
      );
    },
    /** Oldest first. */
    deadEvents: (subscriber: string, query: DeadEventQuery) => listDeadEvents(store, subscriber, query),
    deadEvent: (subscriber: string, eventId: string) => readDeadEvent(store, subscriber, eventId),
  };
}
