import type { CanaryStatus } from '../observe/health.js';
import type { CredentialNotice, CredentialSettings } from './credential-notices.js';
import { credentialNotices } from './credential-notices.js';
import type { LedgerView } from './ledger-view.js';
import type { QuarantineShelf } from './quarantine-shelf.js';
import type { ReconcileFigures } from './reconcile-reports.js';

/** What the health summary looks at; the functions tell the state of this replica now. */
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
  readonly view: Pick<LedgerView, 'summary' | 'status'>;
  readonly quarantine: () => Promise<Awaited<ReturnType<QuarantineShelf['entries']>>>;
  readonly lastReconcile: () => Promise<ReconcileFigures | null>;
}

export type Health = Awaited<ReturnType<typeof readHealth>>;

/** Is all well? Answers also while the store is in trouble: what cannot be known then is null. */
export async function readHealth(parts: HealthParts, now: number) {
  const [summary, entries, reconcile] = await Promise.all([
    parts.view.summary(),
    parts.quarantine().catch(() => null),
    parts.lastReconcile().catch(() => null),
  ]);
  const { lastByRegion, lastBySource, lastByCredential, total } = summary;
  const credentials = credentialNotices(parts.sources, lastByCredential, now);
  const { ready, reason } = parts.readiness();
  const waiting = entries?.filter(({ state }) => state === 'waiting') ?? null;
  const problems = problemsOf(parts, { waiting: waiting?.length ?? 0, reconcile, credentials, reason });
  const status = !ready ? ('failing' as const) : problems.length > 0 ? ('warning' as const) : ('ok' as const);
  return {
    status,
    /** Why not ok, in words, the worst first. */
    problems,
    version: parts.version,
    replica: parts.replica,
    at: new Date(now).toISOString(),
    ready,
    draining: parts.draining(),
    store: { location: parts.store.location, ...storeStatus(parts.store.status()) },
    budget: parts.memory(),
    activeDeliveries: parts.activeDeliveries(),
    regions: parts.regions.map((region) => ({ region, lastDeliveryAt: lastByRegion[region] ?? null })),
    sources: parts.sources.map(({ source }) => ({ source, lastDeliveryAt: lastBySource[source] ?? null })),
    last24h: { since: summary.since, until: summary.until, ...total },
    quarantine:
      entries === null || waiting === null
        ? null
        : {
            waiting: waiting.length,
            waitingBytes: waiting.reduce((sum, { bytes }) => sum + bytes, 0),
            released: entries.length - waiting.length,
          },
    reconcile,
    credentials,
    ledger: parts.view.status(),
  };
}

function storeStatus({ lastSuccessAt, ...status }: CanaryStatus) {
  return { ...status, lastSuccessAt: lastSuccessAt === null ? null : new Date(lastSuccessAt).toISOString() };
}

interface Findings {
  readonly reason: string | null;
  readonly waiting: number;
  readonly reconcile: ReconcileFigures | null;
  readonly credentials: readonly CredentialNotice[];
}

function problemsOf({ view, memory }: HealthParts, findings: Findings): string[] {
  const { reconcile, credentials } = findings;
  const ledger = view.status();
  const said: (string | null | false)[] = [
    findings.reason,
    ledger.error !== null && `The ledger cannot be followed: ${ledger.error}.`,
    reconcile !== null &&
      reconcile.missing > 0 &&
      `Reconcile misses the results of ${jobs(reconcile.missing)}.`,
    reconcile !== null && blindness(reconcile),
    findings.waiting > 0 &&
      `${findings.waiting} undecodable ${findings.waiting === 1 ? 'body waits' : 'bodies wait'} in quarantine.`,
    ...credentials.map(({ advice }) => advice),
    memory().waiters > 0 && 'Deliveries wait for memory.',
    ledger.broken.count > 0 && `${ledger.broken.count} lines of the ledger cannot be read.`,
  ];
  return said.filter((text) => typeof text === 'string');
}

function blindness({ faults: [first, ...others] }: ReconcileFigures): string | null {
  if (first === undefined) return null;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return `The last reconcile did not see everything: ${first}${more}.`;
}

function jobs(count: number): string {
  return count === 1 ? '1 job' : `${count} jobs`;
}
