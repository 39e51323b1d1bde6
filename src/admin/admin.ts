import type { Express } from 'express';
import type { CanaryStatus } from '../observe/health.js';
import type { Metrics } from '../observe/metrics.js';
import type { RefusalRing } from '../observe/refusal-ring.js';
import type { Source } from '../receiver/sender.js';
import type { ObjectStore } from '../store/object-store.js';
import { createAdminApp } from './admin-app.js';
import { adminRoutes } from './admin-routes.js';
import type { CredentialSettings } from './credential-notices.js';
import { createFreshView } from './fresh-view.js';
import type { HealthParts } from './health.js';
import { createLedgerView } from './ledger-view.js';
import { createQuarantineShelf } from './quarantine-shelf.js';
import { createTrialDecoder } from './quarantine-view.js';
import { lastReconcile } from './reconcile-reports.js';
import type { RecordSource } from './service-record.js';
import { createSignIn } from './sign-in.js';

export interface AdminOptions
  extends Pick<
    HealthParts,
    'version' | 'replica' | 'readiness' | 'draining' | 'memory' | 'activeDeliveries' | 'regions'
  > {
  readonly store: ObjectStore;
  readonly storeStatus: () => CanaryStatus;
  readonly sources: ReadonlyMap<string, Source>;
  readonly credentials: readonly CredentialSettings[];
  readonly refusals: Pick<RefusalRing, 'list'>;
  readonly metrics: Metrics;
  /** Bearer tokens by name. */
  readonly tokens: Readonly<Record<string, string>>;
  readonly records: RecordSource;
  readonly limits: { readonly maxParts: number };
  /** Told of errors that are nobody's contract: bugs. */
  readonly onUnexpected: (error: unknown) => void;
}

/** Everything of the admin port. */
export interface Admin {
  readonly app: Express;
  /** Begins to follow the ledger. */
  start(): void;
  stop(): Promise<void>;
}

export function createAdmin(options: AdminOptions): Admin {
  const { store, sources, metrics } = options;
  const view = createLedgerView({ store });
  metrics.ledger.watchBrokenLines(() => view.status().broken.count);
  const shelf = createQuarantineShelf(store);
  const signIn = createSignIn({ tokens: options.tokens });
  const routes = adminRoutes({
    ...options,
    view,
    fresh: createFreshView({ view }),
    shelf,
    signIn,
    keyPrefixes: [...sources.values()].map(({ keyPrefix }) => keyPrefix),
    trial: createTrialDecoder(sources, options.limits.maxParts),
    health: {
      store: { location: store.location, status: options.storeStatus },
      sources: options.credentials,
      quarantine: shelf.entries,
      lastReconcile: () => lastReconcile(store),
    },
  });
  return {
    app: createAdminApp({ metrics, routes, signIn, onUnexpected: options.onUnexpected }),
    start: view.start,
    stop: view.stop,
  };
}
