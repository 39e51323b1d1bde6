import type { Attempt } from './dead/dead-event.js';
import { type OutboxState, ofPresentSources } from './outbox-state.js';
import { originOf, type Subscriber } from './subscriber.js';

/** How far a subscriber is, for the admin port: read from the store, so that every replica gives the same answer. */
export interface SubscriberStatus {
  readonly name: string;
  /** Scheme, host and port of its address; the rest may be a secret. */
  readonly origin: string;
  readonly events: readonly string[];
  /** Empty: all. */
  readonly sources: readonly string[];
  /** Its state cannot be read, so that nobody sends to it and what follows is unknown. */
  readonly stateDamaged: boolean;
  /** Replica that sends at present; null while none does. */
  readonly sender: string | null;
  /** ISO 8601: events before it were never sent on their own. Null before the first replica began. */
  readonly since: string | null;
  /** ISO 8601: time of the oldest event that is not sent yet, retries included; null when everything is sent. */
  readonly oldestUnsent: string | null;
  /** Events that failed and will be tried again. */
  readonly waiting: number;
  /** New events that were read from the log and not tried yet. */
  readonly untried: number;
  /** The log may hold more that was not read yet: more events may wait. */
  readonly unread: boolean;
  /** Since `since`, or since the subscriber last ceased to follow a source. */
  readonly sent: number;
  readonly retried: number;
  /** Events that ended as dead since `since`; those in the store are listed by `deadEvents`. */
  readonly dead: number;
  /** `open`: the address fails, so that only one request at a time tries it. */
  readonly breaker: 'closed' | 'open';
  /** ISO 8601: when the breaker opened; null while it is closed. */
  readonly openSince: string | null;
  /** ISO 8601: while the breaker is open, nothing is sent before; null while it is closed. */
  readonly pausedUntil: string | null;
  /** ISO 8601. */
  readonly lastSentAt: string | null;
  /** The last attempt that failed; stays after later successes. */
  readonly lastFailure: Attempt | null;
}

/** @param saved null before the first replica began */
export function subscriberStatus(
  name: string,
  subscriber: Subscriber,
  saved: OutboxState | null | 'damaged',
): SubscriberStatus {
  const stateDamaged = saved === 'damaged';
  const state = stateDamaged ? null : saved && ofPresentSources(saved, subscriber.sources);
  const openSince = state?.openSince ?? null;
  const sender = state === null || state.heartbeatAt === null ? null : state.owner;
  return {
    name,
    origin: originOf(subscriber),
    events: subscriber.events,
    sources: subscriber.sources,
    stateDamaged,
    sender,
    since: state?.since ?? null,
    oldestUnsent: state?.oldestUnsent ?? null,
    waiting: state?.waiting.length ?? 0,
    untried: state?.untried ?? 0,
    unread: state !== null && (sender === null || state.unread),
    sent: state?.sent ?? 0,
    retried: state?.retried ?? 0,
    dead: state?.dead ?? 0,
    breaker: openSince === null ? 'closed' : 'open',
    openSince,
    pausedUntil: state?.pausedUntil ?? null,
    lastSentAt: state?.lastSentAt ?? null,
    lastFailure: state?.lastFailure ?? null,
  };
}
