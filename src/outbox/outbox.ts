import { Problem } from '../domain/problem.js';
import type { ReceiverEvent } from '../events/receiver-event.js';
import type { ObjectStore } from '../store/object-store.js';
import type { Attempt, DeadEvent } from './dead-event.js';
import { type DeadEventPage, listDeadEvents, readDeadEvent, removeDeadEvent } from './dead-events.js';
import { createEndpoint, type Endpoint } from './endpoint.js';
import { createOutboxStore } from './outbox-store.js';
import { originOf, type Subscriber } from './subscriber.js';
import type { SubscriberStatus } from './subscriber-status.js';

export interface OutboxOptions {
  readonly store: ObjectStore;
  readonly subscribers: Readonly<Record<string, Subscriber>>;
}

/** The subscribers of all replicas, and what this process sends to them. */
export interface Outbox {
  /** How far each configured subscriber is. */
  statuses(): Promise<SubscriberStatus[]>;
  /** Newest first. */
  deadEvents(
    subscriber: string,
    page: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<DeadEventPage>;
  deadEvent(subscriber: string, eventId: string): Promise<DeadEvent | null>;
  /**
   * Makes one request with the event, within the bounds of the subscriber. Once it is delivered, the dead event of its id is
   * deleted. Rejects with `not-found` for an unknown subscriber.
   */
  send(
    subscriber: string,
    event: ReceiverEvent,
    signal: AbortSignal,
  ): Promise<Attempt & { readonly delivered: boolean }>;
  /** Ends connections. */
  close(): Promise<void>;
}

export function createOutbox({ store, subscribers }: OutboxOptions): Outbox {
  const endpoints = new Map<string, Endpoint>();

  function endpointOf(name: string): Endpoint {
    const subscriber = Object.hasOwn(subscribers, name) ? subscribers[name] : undefined;
    if (subscriber === undefined) throw new Problem('not-found', `There is no subscriber ${name}.`);
    const endpoint = endpoints.get(name) ?? createEndpoint(subscriber);
    endpoints.set(name, endpoint);
    return endpoint;
  }

  return {
    statuses: () =>
      Promise.all(Object.entries(subscribers).map(([name, subscriber]) => statusOf(store, name, subscriber))),
    deadEvents: (subscriber, page) => listDeadEvents(store, subscriber, page),
    deadEvent: (subscriber, eventId) => readDeadEvent(store, subscriber, eventId),
    async send(subscriber, event, signal) {
      const { at, status, error, delivered } = await endpointOf(subscriber).send(event, signal);
      if (delivered && 'jobId' in event.data) {
        const { jobId } = event.data;
        await removeDeadEvent(store, { subscriber, eventId: event.id, jobId });
      }
      return { at, status, error, delivered };
    },
    async close() {
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.close()));
    },
  };
}

async function statusOf(store: ObjectStore, name: string, subscriber: Subscriber): Promise<SubscriberStatus> {
  const state = await createOutboxStore(store, name).read();
  return {
    name,
    origin: originOf(subscriber),
    events: subscriber.events,
    sources: subscriber.sources,
    sender: state === null || state.heartbeatAt === null ? null : state.owner,
    since: state?.since ?? null,
    oldestUnsent: state?.oldestUnsent ?? null,
    waiting: state?.waiting.length ?? 0,
    sent: state?.sent ?? 0,
    retried: state?.retried ?? 0,
    dead: state?.dead ?? 0,
    breaker: (state?.openSince ?? null) === null ? 'closed' : 'open',
    openSince: state?.openSince ?? null,
    lastSentAt: state?.lastSentAt ?? null,
    lastFailure: state?.lastFailure ?? null,
  };
}
