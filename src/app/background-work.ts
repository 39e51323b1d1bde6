import { rescueRegularly } from '../capture/rescue-regularly.js';
import type { Config } from '../config/config.js';
import type { Logger } from '../observe/logger.js';
import type { Metrics } from '../observe/metrics.js';
import { reconcileRegularly } from '../recovery/reconcile-regularly.js';
import { startSweeping } from '../store/start-sweeping.js';
import type { ArchiveParts } from './archive-parts.js';
import { canAskService } from './speech-options.js';
import { storeIdentity } from './store-options.js';

/** Milliseconds between searches for stale uploads; each costs a listing. */
const SWEEP_EVERY = 3_600_000;

/** Milliseconds between searches for live sessions that were cut short; each reads one local folder. */
const RESCUE_EVERY = 10_000;

export interface BackgroundWorkOptions {
  readonly config: Config;
  readonly parts: ArchiveParts;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** What a replica does on its own: abort stale uploads, archive live sessions that were cut short, reconcile. */
export function createBackgroundWork({ config, parts, metrics, log }: BackgroundWorkOptions) {
  const { store, archive, ledger } = parts;
  let stopSweeping = () => {};
  const recovery: { stop(): Promise<void> }[] = [];
  return {
    startSweeping(): void {
      stopSweeping = startSweeping(store, {
        maxAgeMs: config.store.sweepUploadsAfter,
        intervalMs: SWEEP_EVERY,
        onSwept: (count) => {
          metrics.store.sweptStaleUploads(count);
          log.info({ event: 'swept', count }, 'stale uploads aborted');
        },
        onError: (error) => log.warn({ event: 'sweep-failed', err: error }, 'stale uploads were not swept'),
      });
    },
    stopSweeping: () => stopSweeping(),
    /** Rescue and reconcile write artefacts: like deliveries, they have to wait until the store is proven. */
    startRecovery(): void {
      const location = storeIdentity(config, store.location);
      const rescueParts = {
        store,
        archive,
        ledger,
        pauseMs: 500,
        location,
        folder: config.capture.rescueFolder,
      };
      recovery.push(rescueRegularly({ parts: rescueParts, log, interval: RESCUE_EVERY }));
      const { interval } = config.recovery;
      if (interval === null || !canAskService(config)) return;
      recovery.push(reconcileRegularly({ parts: parts.recovery, interval, metrics: metrics.recovery, log }));
    },
    async stopRecovery(): Promise<void> {
      await Promise.all(recovery.map((each) => each.stop()));
    },
  };
}
