import { followsAnyInScope, isInScope, type SourceScope, scopeWithin } from '../domain/rights.js';
import type { ObjectStore } from '../store/object-store.js';
import { type DeadEventQuery, listDeadEvents, readDeadEvent } from './dead/dead-events.js';
import type { OutboxState, WaitingEvent } from './outbox-state.js';
import { createOutboxStore, DamagedStateError } from './outbox-store.js';
import type { Subscriber } from './subscriber.js';
import { type SubscriberStatus, subscriberStatus } from './subscriber-status.js';

export interface WaitingQuery {
  readonly scope: SourceScope;
  readonly limit: number;
}

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
     * Events that failed and will be tried again, the next one first, as many as asked for where there are. Empty for an unknown
     * subscriber. Rejects with `DamagedStateError` where the state of the subscriber is damaged.
     */
    async waitingEvents(name: string, { scope, limit }: WaitingQuery): Promise<WaitingEvent[]> {
      const subscriber = Object.hasOwn(subscribers, name) ? subscribers[name] : undefined;
      const states = createOutboxStore(store, name);
      const saved = subscriber && (await states.read());
      if (!saved) return [];
      const followed = scopeWithin(scope, subscriber.sources);
      const shown = (events: readonly WaitingEvent[]) =>
        events.filter(({ source }) => isInScope(followed, source));
      const found = shown(saved.waiting);
      for (const { name: batch, dueAt } of saved.batches.toSorted((a, b) => a.dueAt - b.dueAt)) {
        if (found.filter(({ nextTryAt }) => nextTryAt < dueAt).length >= limit) break;
        // One that is gone was due: its events were in the state again meanwhile.
        const events = (await states.readBatch(batch)) ?? [];
        found.push(...shown(events.map((event) => ({ ...event, nextTryAt: dueAt }))));
      }
      return found.sort(inOrder).slice(0, limit);
    },
    /** Oldest first. */
    deadEvents: (subscriber: string, query: DeadEventQuery) => listDeadEvents(store, subscriber, query),
    deadEvent: (subscriber: string, eventId: string) => readDeadEvent(store, subscriber, eventId),
  };
}

function inOrder(a: WaitingEvent, b: WaitingEvent): number {
  return a.nextTryAt - b.nextTryAt || (a.id < b.id ? -1 : 1);
}
