import { isInScope, type SourceScope, scopeWithin } from '../domain/rights.js';
import type { LogProgress } from './follow/log-place.js';
import type { OutboxState, WaitingEvent, WaitingOfSource } from './outbox-state.js';
import { originOf, type Subscriber } from './subscriber.js';

/**
 * Progress of a subscriber's sender, for the sources that a client of the admin port may see. Read from the store, so that every replica
 * gives the same answer. Events sent are in the index.
 */
export interface SubscriberStatus {
  readonly name: string;
  /** Scheme, host and port of its address; the rest may be a secret. */
  readonly origin: string;
  readonly events: readonly string[];
  /** Sources that the client may see. Empty: all. */
  readonly sources: readonly string[];
  /** The state cannot be read: nothing is sent, and the following fields are unknown. */
  readonly stateDamaged: boolean;
  /** Replica that currently sends; null without one. */
  readonly sender: string | null;
  /** ISO 8601: earlier events were sent only by replays. Null before the first replica started. */
  readonly since: string | null;
  /** Position in the log; null before the first replica started. */
  readonly position: LogProgress | null;
  /** Events that wait for a retry: those due first. */
  readonly waiting: readonly WaitingEvent[];
  /** The other waiting events: an entry per batch and source. */
  readonly setAside: readonly WaitingOfSource[];
  /** `open`: the address fails, so that only one request at a time tries it. */
  readonly breaker: 'closed' | 'open';
  /** ISO 8601: when the breaker opened; null while it is closed. */
  readonly openSince: string | null;
  /** ISO 8601: while the breaker is open, nothing is sent before; null while it is closed. */
  readonly pausedUntil: string | null;
}

/** @param saved null before the first replica started */
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
