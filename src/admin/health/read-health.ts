import type { QuarantineStore } from '../../archive/quarantine/quarantine-store.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import type { FailurePage, LedgerView } from '../../ledger-view/ledger-view.js';
import type { CanaryStatus } from '../../observe/canary.js';
import type { Health, ReconcileFigures, VerifyFigures } from '../api/answers/health.js';
import type { Subscriber } from '../api/answers/subscribers.js';
import { type CredentialSettings, credentialNotices } from './credential-notices.js';
import { type VerdictFacts, verdictOf } from './health-verdict.js';
import { createKnownFacts } from './known-facts.js';
import type { ServiceFacts } from './reconcile-troubles.js';

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
  readonly subscribers: (scope: SourceScope) => Promise<readonly Subscriber[]>;
  /** Milliseconds before the service deletes a job's results at which that is a problem. */
  readonly retentionWarning: number;
}

/** Milliseconds that a fact may take: an open dashboard asks every few seconds. */
const PATIENCE = 3_000;

/**
 * The health summary. It also answers while the store fails or hangs: what is unknown then is null and listed in `unknown`.
 * What covers all sources is null where the client may see some only.
 */
export async function readHealth(
  parts: HealthParts,
  now: number,
  scope: SourceScope = null,
): Promise<Health> {
  const ofAll = <T>(value: T): T | null => (scope === null ? value : null);
  const ledger = parts.view.status();
  const facts = createKnownFacts({ ledger, patience: PATIENCE });
  const [summary, failures, entries, reconcile, verify, subscribers] = await Promise.all([
    facts.read('last24h', parts.view.summary({ scope })),
    facts.read('failing', parts.view.openFailures({ limit: 1, scope })),
    scope === null ? facts.read('quarantine', parts.quarantine()) : null,
    scope === null ? facts.read('reconcile', parts.lastReconcile()) : null,
    scope === null ? facts.read('verify', parts.lastVerify()) : null,
    facts.read('subscribers', parts.subscribers(scope)),
  ]);
  const { lastByRegion = {}, lastBySource = {}, lastByCredential = {} } = summary ?? {};
  facts.noteUnread('last24h', 'regions', 'sources', 'credentials');
  const hasFailures = failures !== null && Object.keys(failures.counts).length > 0;
  if (!hasFailures) facts.noteUnread('failing');
  const { unknown } = facts;
  // Failures that are known stay known while the ledger cannot be read.
  const failing = unknown.failing === undefined ? (failures?.counts ?? null) : null;
  const last24h = unknown.last24h === undefined ? summary : null;
  const sources = parts.sources.filter(({ source }) => isInScope(scope, source));
  const credentials = credentialNotices(sources, lastByCredential, unknown.credentials === undefined, now);
  const { ready, reason } = parts.readiness();
  const waiting = entries?.filter(({ state }) => state === 'waiting') ?? null;
  const store = parts.store.status();
  const budget = parts.memory();
  const draining = parts.draining();
  const verdict = verdictOf(
    {
      receiver: { ready, reason, draining, waiters: scope === null ? budget.waiters : 0 },
      store,
      ledger,
      looked: looked(failures, now),
      deliveries24h: last24h?.total.lines ?? null,
      failing,
      retentionEnds: failures && retentionEnding(failures, parts.retentionWarning, now),
      waiting: waiting?.length ?? null,
      reconcile,
      verify,
      service: parts.service,
      credentials,
      scoped: scope !== null,
      subscribers,
      unknown,
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
    scope: scope === null ? null : { sources: [...scope].sort(), leftOut: OF_ALL_SOURCES },
    budget: ofAll(budget),
    activeDeliveries: ofAll(parts.activeDeliveries()),
    regions: (ofAll(parts.regions) ?? []).map((region) => ({
      region,
      lastDeliveryAt: lastByRegion[region] ?? null,
    })),
    sources: sources.map(({ source }) => ({ source, lastDeliveryAt: lastBySource[source] ?? null })),
    unknown,
    last24h: last24h && { since: last24h.since, until: last24h.until, ...last24h.total },
    failing,
    quarantine:
      entries === null || waiting === null
        ? null
        : {
            waiting: waiting.length,
            waitingBytes: waiting.reduce((sum, { bytes }) => sum + bytes, 0),
            released: entries.filter(({ state }) => state === 'released').length,
            settled: entries.filter(({ state }) => state === 'settled').length,
          },
    service: parts.service,
    reconcile,
    verify,
    credentials,
    subscribers,
    ledger: {
      ...ledger,
      rows: ofAll(ledger.rows),
      broken: ofAll(ledger.broken),
      newer: ofAll(ledger.newer),
    },
  };
}

/** From when on deliveries were looked at; from now on when they could not be. */
function looked(failures: FailurePage | null, now: number): VerdictFacts['looked'] {
  return failures === null
    ? { since: new Date(now).toISOString(), unseen: [] }
    : { since: failures.searchedBackTo, unseen: failures.unseen };
}

/** Members of the summary that are not told apart by source. */
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

/** When the service begins to delete results that can still be fetched; null while that is far away. */
export function retentionEnding({ failures }: FailurePage, warning: number, now: number): string | null {
  const first = failures.find(({ outcome }) => outcome === 'failed' || outcome === 'refused');
  if (first === undefined) return null;
  const left = Date.parse(first.retentionEndsAt) - now;
  return left > 0 && left < warning ? first.retentionEndsAt : null;
}

function storeStatus({ lastSuccessAt, ...status }: CanaryStatus) {
  return { ...status, lastSuccessAt: lastSuccessAt === null ? null : new Date(lastSuccessAt).toISOString() };
}
