import type { SourceScope } from '../../domain/rights.js';
import type { OutboxReader } from '../../subscribers/outbox-reader.js';
import type { SubscriberStatus } from '../../subscribers/subscriber-status.js';
import { subscriberIssues } from '../health/checks/subscriber-issues.js';
import type { SubscriberFigures } from './api/answers/subscribers.js';

export interface SubscriberListParts {
  readonly outbox: Pick<OutboxReader, 'statuses' | 'countDeadEvents'>;
}

/** The configured subscribers that exist for a client, as the store knows them. Rejects with `StoreError`. */
export async function listSubscribers(
  { outbox }: SubscriberListParts,
  scope: SourceScope = null,
  signal?: AbortSignal,
): Promise<SubscriberFigures[]> {
  const statuses = await outbox.statuses(scope);
  return Promise.all(
    statuses.map(async (status) =>
      subscriberOf(status, await outbox.countDeadEvents(status.name, scope, signal), Date.now()),
    ),
  );
}

function subscriberOf(status: SubscriberStatus, dead: number, now: number): SubscriberFigures {
  const { name, origin, events, sources, since, oldestUnsent, sent, lastSentAt, retried, waiting } = status;
  const { untried, unread, lastFailure, breaker, openSince, pausedUntil, sender, stateDamaged } = status;
  const lag = oldestUnsent === null ? 0 : Math.max(0, now - Date.parse(oldestUnsent));
  const lagSeconds = Math.floor(lag / 1000);
  return {
    ...{
      name,
      url: origin,
      events,
      sources,
      stateDamaged,
      since,
      sent,
      lastSentAt,
      retried,
      untried,
      unread,
      dead,
      breaker,
      openSince,
      pausedUntil,
      sender,
    },
    lagSeconds,
    retrying: waiting,
    lastError: lastFailure,
    issues: subscriberIssues(
      { name, stateDamaged, lagSeconds, dead, openSince, lastError: lastFailure },
      now,
    ),
  };
}
