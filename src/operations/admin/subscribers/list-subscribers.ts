import { isInScope, type SourceScope, scopeWithin } from '../../../domain/rights.js';
import type { LedgerView } from '../../../index/ledger-view.js';
import type { UntriedEvents } from '../../../index/sent/count-untried.js';
import type { Attempt } from '../../../subscribers/dead-event.js';
import type { OutboxReader } from '../../../subscribers/outbox-reader.js';
import type { SubscriberStatus } from '../../../subscribers/subscriber-status.js';
import type { SubscriberFigures } from '../../answers/subscribers.js';
import { subscriberIssues } from '../../health/checks/subscriber-issues.js';
import type { DeadEventCounter } from './count-dead-events.js';

export interface SubscriberListParts {
  readonly outbox: Pick<OutboxReader, 'statuses'>;
  readonly view: Pick<LedgerView, 'sent'>;
  readonly countDead: DeadEventCounter;
  /** Brings the index up to date. Called after the states are read, because senders record attempts before they save a state. */
  readonly fresh?: () => Promise<void>;
}

/**
 * The configured subscribers that a client may see: progress of their senders from the store, figures of sent events from the index. Rejects
 * with `StoreError` and `IndexError`.
 */
export async function listSubscribers(
  { outbox, view, countDead, fresh }: SubscriberListParts,
  scope: SourceScope = null,
  signal?: AbortSignal,
): Promise<SubscriberFigures[]> {
  const statuses = await outbox.statuses(scope);
  await fresh?.();
  return Promise.all(
    statuses.map(async (status) => {
      const { name, sources } = status;
      const visible = scopeWithin(scope, sources);
      const [sent, behind, ended] = await Promise.all([
        view.sent.figures(name),
        behindOf(view, status),
        countDead(name, visible, signal),
      ]);
      const isVisible = ({ source }: { readonly source: string | null }) => isInScope(visible, source);
      const figures = { sent: sent.filter(isVisible), behind: behind.filter(isVisible), ended };
      return subscriberOf(status, figures, Date.now());
    }),
  );
}

/** Events not tried yet; none before the first sender started. */
function behindOf(
  { sent }: SubscriberListParts['view'],
  { name, events, sources, position }: SubscriberStatus,
): Promise<readonly UntriedEvents[]> {
  if (position === null) return Promise.resolve([]);
  const { before, hours } = position;
  return sent.untried({ subscriber: name, events, sources, before, hours });
}

interface Figures {
  readonly sent: Awaited<ReturnType<LedgerView['sent']['figures']>>;
  readonly behind: readonly UntriedEvents[];
  readonly ended: ReadonlyMap<string | null, number>;
}

function subscriberOf(status: SubscriberStatus, figures: Figures, now: number): SubscriberFigures {
  const { name, origin, events, sources, since, breaker, openSince, pausedUntil } = status;
  const { sender, stateDamaged } = status;
  const bySource = bySourceOf(status, figures);
  const sum = (of: (each: (typeof bySource)[number]) => number) =>
    bySource.reduce((total, each) => total + of(each), 0);
  const unsent = [
    ...status.waiting.map(({ receivedAt }) => Date.parse(receivedAt)),
    ...[...status.setAside, ...figures.behind].map(({ oldest }) => oldest),
  ];
  const lagSeconds = unsent.length === 0 ? 0 : Math.floor(Math.max(0, now - Math.min(...unsent)) / 1000);
  const dead = sum((each) => each.dead);
  const lastError = lastErrorOf(status, figures);
  const last = Math.max(...figures.sent.map(({ lastDelivered }) => lastDelivered ?? 0));
  const lastSentAt = last > 0 ? new Date(last).toISOString() : null;
  return {
    name,
    url: origin,
    events,
    sources,
    stateDamaged,
    since,
    lagSeconds,
    sent: sum((each) => each.sent),
    lastSentAt,
    retried: figures.sent.reduce((total, { retried }) => total + retried, 0),
    retrying: sum((each) => each.retrying),
    untried: sum((each) => each.untried),
    dead,
    bySource,
    lastError,
    breaker,
    openSince,
    pausedUntil,
    sender,
    issues: subscriberIssues({ name, stateDamaged, lagSeconds, dead, openSince, lastError, lastSentAt }, now),
  };
}

function bySourceOf({ waiting, setAside }: SubscriberStatus, { sent, behind, ended }: Figures) {
  const unsent = [...waiting.map(({ source }) => ({ source, events: 1 })), ...setAside];
  const sources = new Set([...[...sent, ...behind, ...unsent].map(({ source }) => source), ...ended.keys()]);
  return [...sources].map((source) => ({
    source,
    sent: sent.find((each) => each.source === source)?.delivered ?? 0,
    retrying: unsent.reduce((sum, each) => sum + (each.source === source ? each.events : 0), 0),
    untried: behind.find((each) => each.source === source)?.events ?? 0,
    dead: ended.get(source) ?? 0,
  }));
}

/** The last failed attempt: from the sender's state, which has the beginning of answers, and from the index, which reaches further back. */
function lastErrorOf({ waiting }: SubscriberStatus, { sent }: Figures): Attempt | null {
  const failed = [
    ...sent.flatMap(({ lastFailure }) =>
      lastFailure === null ? [] : [{ ...lastFailure, at: new Date(lastFailure.at).toISOString() }],
    ),
    ...waiting.flatMap(({ history }) => history.slice(-1)),
  ];
  return failed.reduce<Attempt | null>(
    (last, each) => (last === null || each.at >= last.at ? each : last),
    null,
  );
}
