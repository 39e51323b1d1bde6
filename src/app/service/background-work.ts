import type { Config } from '../../config/config.js';
import { storeClock } from '../../ledger/hours.js';
import { mergeRegularly } from '../../ledger/merge/merge-regularly.js';
import type { MergeReport } from '../../ledger/merge/merge-report.js';
import { repeat } from '../../lib/time/repeat.js';
import type { Logger } from '../../observe/logger.js';
import type { Metrics } from '../../observe/metrics/metrics.js';
import { type ExpiringStore, isExpiring } from '../../recovery/retention/expired-objects.js';
import { type RegularSweep, sweepRegularly } from '../../recovery/retention/sweep-regularly.js';
import { diagnose } from '../../store/store-condition.js';
import { sweepAbandoned } from '../../store/sweep-abandoned.js';
import type { Outbox } from '../../subscribers/outbox.js';
import type { OpenArchive } from '../archive-parts.js';
import { mergeParts } from '../merge-parts.js';
import type { Reconciler } from '../reconciler.js';
import { canAskService } from '../speech-options.js';
import type { StoreFailureLog } from '../store/store-failure-log.js';

/** Milliseconds between searches for stale uploads; each costs a listing. */
const SWEEP_EVERY = 3_600_000;

/** Milliseconds after which an upload counts as abandoned; longer if a body may take longer. */
export const SWEEP_AFTER = 86_400_000;

interface BackgroundWorkOptions {
  readonly config: Config;
  readonly parts: OpenArchive;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly failures: StoreFailureLog;
  readonly outbox: Outbox;
  readonly reconciler: Reconciler;
  /** Whether the store was writable recently. */
  readonly isStoreReady: () => boolean;
  /** Whether callbacks need the process; background work then waits. */
  readonly isBusy: () => boolean;
}

export type BackgroundWork = ReturnType<typeof createBackgroundWork>;

/** Background work of a replica: abort stale uploads, remove expired objects, reconcile, merge, send events. */
export function createBackgroundWork(options: BackgroundWorkOptions) {
  const { config, parts, metrics, log, failures, outbox, reconciler } = options;
  const { store } = parts;
  const sweep = async () => {
    try {
      const count = await sweepAbandoned(store, Math.max(SWEEP_AFTER, config.limits.totalTimeout));
      if (count === 0) return;
      metrics.store.sweptStaleUploads(count);
      log.info({ event: 'swept', count }, 'stale uploads aborted');
    } catch (error) {
      const { reason, condition } = diagnose(error);
      failures.failed('sweep-failed', { reason: `stale uploads were not swept: ${reason}`, condition });
    }
  };
  let sweeping: ReturnType<typeof repeat> | null = null;
  const started: { stop(): Promise<void> }[] = [];
  return {
    startSweeping(): void {
      sweeping = repeat(sweep, { interval: SWEEP_EVERY, firstWithin: 0 });
    },
    /** A sweep in progress runs to its end. */
    stopSweeping: () => void sweeping?.stop(),
    /** Starts the work that writes to the store, which must wait until the store is proven. */
    startWriting(): void {
      if (isExpiring(store) && Object.values(config.retention).some((period) => period !== null)) {
        started.push(sweepRegularly(regularSweep(options, store)));
      }
      if (config.ledger.merge) started.push(mergeRegularly(regularMerge(options)));
      outbox.start();
      started.push(outbox);
      const { interval } = config.recovery;
      if (interval !== null && canAskService(config)) reconciler.repeat({ interval });
    },
    async stopWriting(): Promise<void> {
      await Promise.all([...started, reconciler].map((each) => each.stop()));
    },
  };
}

function regularSweep(
  { config, parts, log, isStoreReady, isBusy }: BackgroundWorkOptions,
  store: ExpiringStore,
): RegularSweep {
  return {
    parts: {
      store,
      ledger: parts.ledger,
      periods: config.retention,
      clock: storeClock(store),
    },
    isStoreReady,
    isBusy,
    onReport({ kinds, complete, faults }) {
      const event = { event: 'retention', kinds, complete, faults };
      if (faults.length > 0) log.warn(event, 'not everything that is older than its retention was removed');
      else log.info(event, 'nothing older than its retention is left');
    },
    onFault: (reason) =>
      log.warn({ event: 'retention-failed', reason }, 'expired objects were not searched for'),
  };
}

function regularMerge({ config, parts, metrics, log, isStoreReady, isBusy }: BackgroundWorkOptions) {
  return {
    parts: mergeParts(config, parts.store),
    isStoreReady,
    isBusy,
    onReport(report: MergeReport) {
      const { hours, records, lines, segments, deleted, swept, faults, oldestOpen } = report;
      metrics.merge.finished({
        faults: faults.length,
        oldestOpen: oldestOpen === null ? null : Date.parse(oldestOpen) + 3_600_000,
      });
      const durationMs = Date.parse(report.finishedAt) - Date.parse(report.startedAt);
      const counts = { hours, records, lines, segments, deleted, swept, oldestOpen };
      const event = { event: 'merge', ...counts, faults, durationMs };
      if (faults.length > 0) log.warn(event, 'merged the ledger, with faults');
      else if (records + deleted + swept > 0) log.info(event, 'merged the ledger');
    },
  };
}
