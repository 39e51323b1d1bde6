import { isInScope, type SourceScope, scopeWithin } from '../domain/rights.js';
import type { LogProgress } from './follow/log-place.js';
import type { OutboxState, WaitingEvent, WaitingOfSource } from './outbox-state.js';
import { originOf, type Subscriber } from './subscriber.js';

/**
 * Where the sender of a subscriber is, for the sources that exist for a client of the admin port: read from the store, so that every
 * replica gives the same answer. What was sent is in the index.
 */
export interface SubscriberStatus {
  readonly name: string;
  /** Scheme, host and port of its address; the rest may be a secret. */
  readonly origin: string;
  readonly events: readonly string[];
  /** Sources that exist for the client. Empty: all. */
  readonly sources: readonly string[];
  /** The state cannot be read: nothing is sent, and the following fields are unknown. */
  readonly stateDamaged: boolean;
  /** Replica that sends at present; null while none does. */
  readonly sender: string | null;
  /** ISO 8601: events before it were never sent on their own. Null before the first replica began. */
  readonly since: string | null;
  /** Position in the log; null before the first replica began. */
  readonly position: LogProgress | null;
  /** Events that failed and will be tried again: those that are due first. */
  readonly waiting: readonly WaitingEvent[];
  /** The others, each source as often as there are batches of it. */
  readonly setAside: readonly WaitingOfSource[];
  /** `open`: the address fails, so that only one request at a time tries it. */
  readonly breaker: 'closed' | 'open';
  /** ISO 8601: when the breaker opened; null while it is closed. */
  readonly openSince: string | null;
  /** ISO 8601: while the breaker is open, nothing is sent before; null while it is closed. */
  readonly pausedUntil: string | null;
}

/** @param saved null before the first replica began */
export function subscriberStatus(
  name: string,
  subscriber: Subscriber,
  saved: OutboxState | null | 'damaged',
  scope: SourceScope,
): SubscriberStatus {
  const stateDamaged = saved === 'damaged';
  const state = stateDamaged ? null : saved;
  const openSince = state?.openSince ?? null;
  const visible = scopeWithin(scope, subscriber.sources);
  const isVisible = ({ source }: { readonly source: string | null }) => isInScope(visible, source);
  return {
    name,
    origin: originOf(subscriber),
    events: subscriber.events,
    sources: [...(visible ?? [])],
    stateDamaged,
    sender: state === null || state.heartbeatAt === null ? null : state.owner,
    since: state?.since ?? null,
    position: state,
    waiting: (state?.waiting ?? []).filter(isVisible),
    setAside: (state?.batches ?? []).flatMap(({ bySource }) => bySource.filter(isVisible)),
    breaker: openSince === null ? 'closed' : 'open',
    openSince,
    pausedUntil: state?.pausedUntil ?? null,
  };
}
