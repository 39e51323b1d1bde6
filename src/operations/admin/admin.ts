import type { Express } from 'express';
import type { CountedVerdict } from '../../observe/metrics/verdict-metrics.js';
import { markCopyServed } from '../../store/probe/copy-mark.js';
import type { Health } from '../answers/health.js';
import { type ChangeGate, createChangeGate, createReadGate } from './access/gates.js';
import { createAdminApp } from './admin-app.js';
import { createAdminRouter } from './admin-router.js';
import { type AdminOptions, createAdminServices } from './admin-services.js';
import { adminRoutes } from './api/admin-routes.js';
import { createHealthNotices, noticeSubscribers } from './notify-of-health.js';
import { readHealth } from './read-health.js';

/** The admin port. */
export interface Admin {
  readonly app: Express;
  readonly changes: Pick<ChangeGate, 'close' | 'whenEmpty'>;
  /** Starts following the ledger, running replays, and sending health notices. */
  start(): void;
  /** Stops the replays and notices of this replica while the ledger can still be written; another replica resumes them. */
  stopReplays(): Promise<void>;
  stop(): Promise<void>;
}

/** The verdict for the metric. Throws while callbacks and failing jobs are not known yet, unless the ledger cannot be read. */
function countedVerdict({ verdict, unknown }: Health): CountedVerdict {
  const isUnreadable = verdict.issues.some(
    ({ code }) => code === 'ledger-unreadable' || code === 'index-behind',
  );
  if (!isUnreadable && (unknown.callbacks !== undefined || unknown.failing !== undefined))
    throw new Error('the ledger is not read yet');
  return { issues: verdict.issues, isKnown: Object.keys(unknown).length === 0 };
}

export function createAdmin(options: AdminOptions): Admin {
  const { settings, self, replicas, receiving, view, metrics } = options;
  const { limits } = receiving;
  const onUnexpected = options.report.unexpected;
  const services = createAdminServices(options);
  const { facts, store, outbox, replays, signIn, accessLedger, lastVerify } = services;
  const changes = createChangeGate();
  const health = () => readHealth(self, facts, limits.factsWithin, Date.now());
  const notices = createHealthNotices({
    outbox,
    store,
    onError: onUnexpected,
    health,
    isFirst: replicas.isFirst,
    isWritable: () => self.store.status().writable,
    subscribers: noticeSubscribers(options.events.subscribers),
  });
  const api = createAdminRouter({
    limits,
    onUnexpected,
    signIn,
    changes,
    routes: adminRoutes(services),
    admitChange: () => markCopyServed(store),
    reads: createReadGate({ isReceiving: receiving.isReceiving }),
    onSignedIn: accessLedger.signedIn,
  });
  return {
    app: createAdminApp(api, metrics, settings),
    changes,
    start() {
      view.start();
      metrics.verify.watchReports(lastVerify);
      metrics.verdict.watchIssues(async () => countedVerdict(await health()));
      replays.start();
      notices.start();
    },
    async stopReplays() {
      await Promise.all([replays.stop(), notices.stop()]);
    },
    stop: view.stop,
  };
}
