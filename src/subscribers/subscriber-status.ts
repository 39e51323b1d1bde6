import { isInScope, type SourceScope, scopeWithin } from '../domain/rights.js';
import type { Attempt } from './dead/dead-event.js';
import type { OutboxState, SourceFigures } from './outbox-state.js';
import { originOf, type Subscriber } from './subscriber.js';

/**
 * How far a subscriber is with the sources that exist for a client of the admin port: read from the store, so that every replica
 * gives the same answer.
 */
export interface SubscriberStatus {
  readonly name: string;
  /** Scheme, host and port of its address; the rest may be a secret. */
  readonly origin: string;
  readonly events: readonly string[];
  /** Those that exist for the client. Empty: all. */
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
  /** Since `since`. */
  readonly sent: number;
  readonly retried: number;
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

export interface StatusParts {
  readonly name: string;
  readonly subscriber: Subscriber;
  /** Null before the first replica began. */
  readonly saved: OutboxState | null | 'damaged';
  readonly scope: SourceScope;
}

export function subscriberStatus({ name, subscriber, saved, scope }: StatusParts): SubscriberStatus {
  const stateDamaged = saved === 'damaged';
  const state = stateDamaged ? null : saved;
  const openSince = state?.openSince ?? null;
  const sender = state === null || state.heartbeatAt === null ? null : state.owner;
  const visible = scopeWithin(scope, subscriber.sources);
  return {
    name,
    origin: originOf(subscriber),
    events: subscriber.events,
    sources: [...(visible ?? [])],
    stateDamaged,
    sender,
    since: state?.since ?? null,
    unread: state !== null && (sender === null || state.unreadSince !== null),
    breaker: openSince === null ? 'closed' : 'open',
    openSince,
    pausedUntil: state?.pausedUntil ?? null,
    ...figuresOf(state, visible),
  };
}

type Figures = Pick<
  SubscriberStatus,
  'sent' | 'retried' | 'waiting' | 'untried' | 'lastSentAt' | 'lastFailure' | 'oldestUnsent'
>;

function figuresOf(state: OutboxState | null, scope: SourceScope): Figures {
  const waiting = (state?.waiting ?? []).filter(({ source }) => isInScope(scope, source));
  const figures = Object.entries(state?.figures ?? {})
    .filter(([source]) => isInScope(scope, source))
    .map(([, each]) => each);
  const sum = (of: (each: SourceFigures) => number) => figures.reduce((total, each) => total + of(each), 0);
  const unsent = [
    state?.unreadSince,
    ...waiting.map(({ receivedAt }) => receivedAt),
    ...figures.map(({ oldestUntried }) => oldestUntried),
  ];
  return {
    sent: sum(({ sent }) => sent),
    retried: sum(({ retried }) => retried),
    waiting: waiting.length,
    untried: sum(({ untried }) => untried),
    lastSentAt: inOrder(figures.map(({ lastSentAt }) => lastSentAt)).at(-1) ?? null,
    lastFailure: figures
      .map(({ lastFailure }) => lastFailure)
      .reduce((last, each) => (each !== null && (last === null || each.at > last.at) ? each : last), null),
    oldestUnsent: inOrder(unsent)[0] ?? null,
  };
}

function inOrder(instants: readonly (string | null | undefined)[]): string[] {
  return instants.filter((instant) => typeof instant === 'string').sort();
}
