import { deadEventsFolder } from '../../archive/layout.js';
import { areInScope, type SourceScope } from '../../domain/rights.js';
import type { Outbox } from '../../outbox/outbox.js';
import type { SubscriberStatus } from '../../outbox/subscriber-status.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { Subscriber } from '../api/answers/subscribers.js';

/** Dead events counted per subscriber: more of them say the same, and each thousand is a listing. */
const MAX_COUNTED = 1000;

export interface SubscriberListParts {
  readonly outbox: Pick<Outbox, 'statuses'>;
  readonly store: Pick<ObjectStore, 'list'>;
}

/** The configured subscribers that exist for a client, as the store knows them. Rejects with `StoreError`. */
export async function listSubscribers(
  { outbox, store }: SubscriberListParts,
  scope: SourceScope = null,
): Promise<Subscriber[]> {
  const statuses = (await outbox.statuses()).filter(({ sources }) => areInScope(scope, sources));
  return Promise.all(
    statuses.map(async (status) =>
      subscriberOf(status, await countDeadEvents(store, status.name), Date.now()),
    ),
  );
}

async function countDeadEvents(store: Pick<ObjectStore, 'list'>, subscriber: string): Promise<number> {
  let found = 0;
  for await (const _ of store.list(deadEventsFolder(subscriber))) {
    found += 1;
    if (found === MAX_COUNTED) break;
  }
  return found;
}

function subscriberOf(status: SubscriberStatus, dead: number, now: number): Subscriber {
  const { name, origin, events, sources, since, oldestUnsent, sent, lastSentAt, retried, waiting } = status;
  const { lastFailure, breaker, openSince, sender } = status;
  const lag = oldestUnsent === null ? 0 : Math.max(0, now - Date.parse(oldestUnsent));
  return {
    ...{
      name,
      url: origin,
      events,
      sources,
      since,
      sent,
      lastSentAt,
      retried,
      dead,
      breaker,
      openSince,
      sender,
    },
    lagSeconds: Math.floor(lag / 1000),
    retrying: waiting,
    lastError: lastFailure,
  };
}
