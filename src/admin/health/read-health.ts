import type { QuarantineStore } from '../../archive/quarantine/quarantine-store.js';
import type { LedgerView } from '../../ledger-view/ledger-view.js';
import type { CanaryStatus } from '../../observe/canary.js';
import type { Health, ReconcileFigures, VerifyFigures } from '../api/answers/health.js';
import { type CredentialSettings, credentialNotices } from './credential-notices.js';
import { type ServiceFacts, verdictOf } from './health-verdict.js';

/** Inputs of the health summary; the functions return the current state of this replica. */
export interface HealthParts {
  readonly version: string;
  readonly replica: string;
  readonly readiness: () => { readonly ready: boolean; readonly reason: string | null };
  readonly draining: () => boolean;
  readonly store: { readonly location: string; readonly status: () => CanaryStatus };
  readonly memory: () => { readonly total: number; readonly used: number; readonly waiters: number };
  readonly activeDeliveries: () => number;
  /** Regions callbacks or recovery are configured for. */
  readonly regions: readonly string[];
  readonly sources: readonly CredentialSettings[];
  readonly service: ServiceFacts;
  readonly view: Pick<LedgerView, 'summary' | 'status' | 'openFailures'>;
  readonly quarantine: () => Promise<Awaited<ReturnType<QuarantineStore['entries']>>>;
  readonly lastReconcile: () => Promise<ReconcileFigures | null>;
  readonly lastVerify: () => Promise<VerifyFigures | null>;
}

/** The health summary. It also answers while the store fails: values that are unknown then are null. */
export async function readHealth(parts: HealthParts, now: number): Promise<Health> {
  const [summary, failures, entries, reconcile, verify] = await Promise.all([
    parts.view.summary(),
    parts.view.openFailures({ limit: 1 }),
    parts.quarantine().catch(() => null),
    parts.lastReconcile().catch(() => null),
    parts.lastVerify().catch(() => null),
  ]);
  const failing = failures.counts;
  const { lastByRegion, lastBySource, lastByCredential, total } = summary;
  const credentials = credentialNotices(parts.sources, lastByCredential, now);
  const { ready, reason } = parts.readiness();
  const waiting = entries?.filter(({ state }) => state === 'waiting') ?? null;
  const store = parts.store.status();
  const budget = parts.memory();
  const draining = parts.draining();
  const ledger = parts.view.status();
  const verdict = verdictOf(
    {
      receiver: { ready, reason, draining, waiters: budget.waiters },
      store,
      ledger,
      looked: { since: failures.searchedBackTo, unseen: failures.unseen },
      deliveries24h: total.lines,
      failing,
      waiting: waiting?.length ?? null,
      reconcile,
      verify,
      service: parts.service,
      credentials,
    },
    now,
  );
  return {
    status: verdict.level,
    problems: verdict.troubles.map(({ text }) => text),
    verdict,
    version: parts.version,
    replica: parts.replica,
    at: new Date(now).toISOString(),
    ready,
    readyReason: reason,
    draining,
    store: { location: parts.store.location, ...storeStatus(store) },
    budget,
    activeDeliveries: parts.activeDeliveries(),
    regions: parts.regions.map((region) => ({ region, lastDeliveryAt: lastByRegion[region] ?? null })),
    sources: parts.sources.map(({ source }) => ({ source, lastDeliveryAt: lastBySource[source] ?? null })),
    last24h: { since: summary.since, until: summary.until, ...total },
    failing,
    quarantine:
      entries === null || waiting === null
        ? null
        : {
            waiting: waiting.length,
            waitingBytes: waiting.reduce((sum, { bytes }) => sum + bytes, 0),
            released: entries.length - waiting.length,
          },
    service: parts.service,
    reconcile,
    verify,
    credentials,
    ledger,
  };
}

function storeStatus({ lastSuccessAt, ...status }: CanaryStatus) {
  return { ...status, lastSuccessAt: lastSuccessAt === null ? null : new Date(lastSuccessAt).toISOString() };
}
