import { followsAnyInScope, isInScope, type SourceScope, scopeWithin } from '../domain/rights.js';
import type { ObjectStore } from '../store/object-store.js';
import { type DeadEventQuery, listDeadEvents, readDeadEvent } from './dead/dead-events.js';
import type { OutboxState, WaitingEvent } from './outbox-state.js';
import { createOutboxStore, DamagedStateError } from './outbox-store.js';
import type { Subscriber } from './subscriber.js';
import { type SubscriberStatus, subscriberStatus } from './subscriber-status.js';

export type OutboxReader = ReturnType<typeof createOutboxReader>;

/** What the store knows of the subscribers of all replicas. */
export function createOutboxReader(store: ObjectStore, subscribers: Readonly<Record<string, Subscriber>>) {
  /** A damaged state concerns its own subscriber alone. */
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
    /**
     * Events that failed and will be tried again, the next one first. Empty for an unknown subscriber. Rejects with
     * `DamagedStateError` where the state of the subscriber is damaged.
     */
    async waitingEvents(name: string, scope: SourceScope): Promise<WaitingEvent[]> {
      const subscriber = Object.hasOwn(subscribers, name) ? subscribers[name] : undefined;
      const saved = subscriber && (await createOutboxStore(store, name).read());
      if (!saved) return [];
      const followed = scopeWithin(scope, subscriber.sources);
      const visible = saved.waiting.filter(({ source }) => isInScope(followed, source));
      return visible.sort((a, b) => a.nextTryAt - b.nextTryAt);
    },
    /** Oldest first. */
    deadEvents: (subscriber: string, query: DeadEventQuery) => listDeadEvents(store, subscriber, query),
    deadEvent: (subscriber: string, eventId: string) => readDeadEvent(store, subscriber, eventId),
  };
}
