import type { SourceScope } from '../../domain/rights.js';
import { isInScope } from '../../domain/rights.js';
import { NO_REGION } from '../../index/queries/figures.js';
import type { Health } from '../answers/health.js';
import type { SubscriberFigures } from '../answers/subscribers.js';
import type { CanaryStatus } from '../health/canary.js';
import { type CallbackFacts, isOfLastHour } from '../health/checks/callback-issues.js';
import { neededHeaders } from '../health/credential-states.js';
import { verdictOf } from '../health/health-verdict.js';
import { type FactSources, type ProcessFacts, readFacts } from '../health/read-facts.js';
import type { Issue } from '../issues/issues.js';

/** Facts about the replica itself; the functions return its current state. */
export interface ReplicaFacts {
  readonly version: string;
  readonly replica: string;
  readonly readiness: () => { readonly ready: boolean; readonly reason: string | null };
  readonly draining: () => boolean;
  /** Issues that this replica reports of itself. */
  readonly ownIssues: () => readonly Issue[];
  readonly store: { readonly location: string; readonly status: () => CanaryStatus };
  readonly memory: () => { readonly total: number; readonly used: number; readonly waiters: number };
  readonly activeDeliveries: () => number;
  /** Address at which senders reach the receiver, as configured, and its port. Null: not known yet. */
  readonly callbackAddress: () => { readonly url: string | null; readonly port: number | null };
  /** Regions with a configured batch address. */
  readonly regions: readonly string[];
}

/**
 * The verdict and the facts behind it. Facts about all sources are null for a client that may see only some.
 *
 * @param patience time-out of each fact in milliseconds
 */
export async function readHealth(
  self: ReplicaFacts,
  from: FactSources<SubscriberFigures>,
  patience: number,
  now: number,
  scope: SourceScope = null,
): Promise<Health> {
  const ofAll = <T>(value: T): T | null => (scope === null ? value : null);
  const sources = from.sources.filter(({ source }) => isInScope(scope, source));
  const process = processFacts(self, scope);
  const { facts, summary, last24h, quarantine } = await readFacts(
    { ...from, sources },
    process,
    now,
    scope,
    patience,
  );
  const { byRegion = {} } = summary?.last ?? {};
  const { receiver, store } = process;
  const { ledger } = facts;
  return {
    verdict: verdictOf(facts, now),
    version: self.version,
    replica: self.replica,
    at: new Date(now).toISOString(),
    ready: receiver.ready,
    draining: receiver.draining,
    store: { location: self.store.location, ...storeStatus(store) },
    scope: scope === null ? null : { sources: [...scope].sort() },
    budget: ofAll(self.memory()),
    activeDeliveries: ofAll(self.activeDeliveries()),
    regions: (ofAll(self.regions) ?? []).map((region) => ({
      region,
      lastDeliveryAt: byRegion[region] ?? null,
    })),
    noRegion: ofAll({ lastDeliveryAt: byRegion[NO_REGION] ?? null }),
    callbackAddress: self.callbackAddress(),
    sources: sources.map((each) => ({ source: each.source, headers: neededHeaders(each, now) })),
    unknown: facts.unknown,
    last24h: last24h && { since: last24h.since, until: last24h.until, ...last24h.total },
    callbacks: facts.callbacks && callbackFigures(facts.callbacks, now),
    failing: facts.failing,
    quarantine,
    service: from.service,
    reconcile: facts.reconcile,
    verify: facts.verify,
    credentials: facts.credentials,
    subscribers: facts.subscribers,
    index: from.view.extent(),
    ledger: {
      ...ledger,
      rows: ofAll(ledger.rows),
      place: ofAll(ledger.place),
    },
  };
}

function processFacts(self: ReplicaFacts, scope: SourceScope) {
  const waiters = scope === null ? self.memory().waiters : 0;
  return {
    receiver: { ...self.readiness(), draining: self.draining(), waiters },
    store: self.store.status(),
    ownIssues: self.ownIssues(),
  } satisfies ProcessFacts;
}

function callbackFigures(
  { hourSince, daySince, accepted, refused, unauthenticated, missed }: CallbackFacts,
  now: number,
) {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const requests = unauthenticated.flatMap(({ minutes }) =>
    minutes.flatMap(([start, count]) => (isOfLastHour(start, now) ? count : [])),
  );
  const lastAt = Math.max(0, ...[...accepted.values()].map((each) => each.lastAt));
  return {
    since: new Date(hourSince).toISOString(),
    accepted: sum([...accepted.values()].map((each) => each.requests)),
    rejected: sum(refused.map(({ count }) => count)) + sum(requests),
    lastAcceptedAt: lastAt === 0 ? null : new Date(lastAt).toISOString(),
    missed: {
      since: new Date(daySince).toISOString(),
      jobs: missed.ofJobs,
      missed: missed.jobs,
    },
  };
}

function storeStatus({ lastSuccessAt, ...status }: CanaryStatus) {
  return { ...status, lastSuccessAt: lastSuccessAt === null ? null : new Date(lastSuccessAt).toISOString() };
}
