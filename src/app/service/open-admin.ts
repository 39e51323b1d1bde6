import type { Metrics } from '../../observe/metrics/metrics.js';
import { mergedRefusals } from '../../observe/refusal-ring.js';
import { type Admin, createAdmin } from '../../operations/admin/admin.js';
import type { AdminOptions } from '../../operations/admin/admin-services.js';
import { credentialSettings } from '../../operations/health/credential-states.js';
import { issuesOfReplicas } from '../../operations/health/replica-issues.js';
import { createReplicaReportsReader, isFirstReplica } from '../../operations/health/replica-reports.js';
import { DASHBOARD } from '../dashboard-folder.js';
import type { ServiceLimits } from '../fixed-limits.js';
import type { Reconciler } from '../reconciler.js';
import { canAskService } from '../speech-options.js';
import type { OpenReceiving } from './open-receiving.js';
import type { OpenStorage } from './open-storage.js';
import type { ReplicaState } from './replica-state.js';
import type { ServiceOptions } from './service-options.js';

interface AdminParts {
  readonly options: ServiceOptions;
  readonly limits: ServiceLimits;
  readonly metrics: Metrics;
  readonly storage: OpenStorage;
  readonly replica: ReplicaState;
  readonly receiving: OpenReceiving;
  readonly reconciler: Reconciler;
}

/** The admin port of a service. */
export function openAdmin(parts: AdminParts): Admin {
  const { options, limits, metrics, storage, receiving, reconciler } = parts;
  const { config, log } = options;
  const { sources, admission, isBusy, refusals } = receiving;
  const { view, recovery } = storage.parts;
  return createAdmin({
    settings: settingsOf(options),
    self: replicaFacts(parts),
    replicas: otherReplicas(options, storage),
    receiving: {
      sources,
      limits,
      isBusy,
      refusals: mergedRefusals(refusals.ofCallbacks, refusals.ofSignIns),
      isReceiving: () => admission.isReceiving,
    },
    view,
    recovery,
    metrics,
    reconciling: reconciler,
    events: { outbox: storage.outbox, subscribers: new Map(Object.entries(config.subscribers)) },
    report: {
      signInFailed({ cause, peer, userAgent }) {
        const failed = { reason: `sign-in-${cause}` as const, source: null, clientIp: peer };
        metrics.signIns.failed(cause);
        const unknown = { cause: null, peer: null, forwardedFor: null };
        refusals.ofSignIns.add({ at: new Date().toISOString(), ...failed, ...unknown, userAgent });
        receiving.logRefusal(failed);
      },
      replayFailed: (failure) =>
        log.warn({ event: 'replay-failed', ...failure }, 'an item of a replay failed'),
      unexpected: receiving.onUnexpected,
    },
  });
}

function settingsOf({ config, adminTokens }: ServiceOptions): AdminOptions['settings'] {
  return {
    tokens: adminTokens,
    hosts: config.admin.hosts,
    page: DASHBOARD,
    regions: Object.keys(config.egress.regions),
    keyPrefixes: config.keyPrefixes,
    credentials: credentialSettings(config.sources),
    service: { configured: canAskService(config), interval: config.recovery.interval },
  };
}

function replicaFacts({ options, storage, replica, receiving }: AdminParts): AdminOptions['self'] {
  const { config, version } = options;
  const { parts, storeHealth } = storage;
  const { store, budget, speech } = parts;
  return {
    version,
    replica: config.replicaName,
    readiness: replica.readiness,
    draining: replica.isDraining,
    ownIssues: () => storeHealth.ownIssues(),
    store: { location: store.location, status: () => storeHealth.status() },
    memory: () => ({ total: budget.total, used: budget.used, waiters: budget.waiters }),
    activeDeliveries: () => receiving.admission.active,
    callbackAddress: () => ({ url: config.receiver.publicUrl, port: replica.port }),
    regions: speech.regions,
  };
}

function otherReplicas({ config }: ServiceOptions, storage: OpenStorage): AdminOptions['replicas'] {
  const { parts, storeHealth } = storage;
  const reports = createReplicaReportsReader(parts.store, config.store.canaryInterval);
  return {
    issues: async () => issuesOfReplicas(await reports(), storeHealth.canaryKey),
    isFirst: async () => isFirstReplica(await reports(), storeHealth.canaryKey),
  };
}
