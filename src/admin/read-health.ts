import type { SourceScope } from '../domain/rights.js';
import { isInScope } from '../domain/rights.js';
import { verdictOf } from '../health/health-verdict.js';
import { type FactSources, type ProcessFacts, readFacts } from '../health/read-facts.js';
import type { CanaryStatus } from '../observe/canary.js';
import type { Health } from './api/answers/health.js';
import type { SubscriberFigures } from './api/answers/subscribers.js';

/** Inputs of the health summary; the functions return the current state of this replica. */
export interface HealthParts extends FactSources<SubscriberFigures> {
  readonly version: string;
  readonly replica: string;
  readonly readiness: () => { readonly ready: boolean; readonly reason: string | null };
  readonly draining: () => boolean;
  readonly store: { readonly location: string; readonly status: () => CanaryStatus };
  readonly memory: () => { readonly total: number; readonly used: number; readonly waiters: number };
  readonly activeDeliveries: () => number;
  /** Regions callbacks or recovery are configured for. */
  readonly regions: readonly string[];
}

/** Milliseconds that a fact may take: an open dashboard asks every few seconds. */
const PATIENCE = 3_000;

/** The verdict and the facts behind it. What covers all sources is null where the client may see some only. */
export async function readHealth(
  parts: HealthParts,
  now: number,
  scope: SourceScope = null,
): Promise<Health> {
  const ofAll = <T>(value: T): T | null => (scope === null ? value : null);
  const sources = parts.sources.filter(({ source }) => isInScope(scope, source));
  const process = processFacts(parts, scope);
  const { facts, summary, last24h, entries } = await readFacts({ ...parts, sources }, process, {
    now,
    scope,
    patience: PATIENCE,
  });
  const { byRegion = {}, bySource = {} } = summary?.last ?? {};
  const { receiver, store } = process;
  const { ledger } = facts;
  return {
    verdict: verdictOf(facts, now),
    version: parts.version,
    replica: parts.replica,
    at: new Date(now).toISOString(),
    ready: receiver.ready,
    draining: receiver.draining,
    store: { location: parts.store.location, ...storeStatus(store) },
    scope: scope === null ? null : { sources: [...scope].sort(), leftOut: OF_ALL_SOURCES },
    budget: ofAll(parts.memory()),
    activeDeliveries: ofAll(parts.activeDeliveries()),
    regions: (ofAll(parts.regions) ?? []).map((region) => ({
      region,
      lastDeliveryAt: byRegion[region] ?? null,
    })),
    sources: sources.map(({ source }) => ({ source, lastDeliveryAt: bySource[source] ?? null })),
    unknown: facts.unknown,
    last24h: last24h && { since: last24h.since, until: last24h.until, ...last24h.total },
    failing: facts.failing,
    oldestOpen: facts.oldestOpen,
    quarantine: entries && quarantineFigures(entries),
    service: parts.service,
    reconcile: facts.reconcile,
    verify: facts.verify,
    credentials: facts.credentials,
    subscribers: facts.subscribers,
    ledger: {
      ...ledger,
      rows: ofAll(ledger.rows),
      broken: ofAll(ledger.broken),
      newer: ofAll(ledger.newer),
    },
  };
}

function processFacts(parts: HealthParts, scope: SourceScope) {
  const waiters = scope === null ? parts.memory().waiters : 0;
  return {
    receiver: { ...parts.readiness(), draining: parts.draining(), waiters },
    store: parts.store.status(),
  } satisfies ProcessFacts;
}

function quarantineFigures(entries: Awaited<ReturnType<HealthParts['quarantine']>>) {
  const of = (wanted: string) => entries.filter(({ state }) => state === wanted);
  const waiting = of('waiting');
  return {
    waiting: waiting.length,
    waitingBytes: waiting.reduce((sum, { bytes }) => sum + bytes, 0),
    released: of('released').length,
    settled: of('settled').length,
  };
}

/** Members of the summary that are not divided by source. */
const OF_ALL_SOURCES = [
  'quarantine',
  'reconcile',
  'verify',
  'regions',
  'budget',
  'activeDeliveries',
  'ledger.rows',
  'ledger.broken',
  'ledger.newer',
];

function storeStatus({ lastSuccessAt, ...status }: CanaryStatus) {
  return { ...status, lastSuccessAt: lastSuccessAt === null ? null : new Date(lastSuccessAt).toISOString() };
}
