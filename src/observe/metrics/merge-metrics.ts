import { Counter, Gauge, type Registry } from 'prom-client';

/** The merge of the ledger in this process. */
export interface MergeMetrics {
  /** Records the end of a run; `oldestOpen` is the end of the oldest whole hour that is not merged, or null. */
  finished(run: { faults: number; oldestOpen: number | null }): void;
}

export function createMergeMetrics(registry: Registry, clock: () => number): MergeMetrics {
  const metrics = defineMetrics(registry);
  let oldest: number | null = null;
  new Gauge({
    name: 'transcript_receiver_merge_oldest_open_hour_seconds',
    help: 'Time since the end of the oldest hour of the ledger that could be merged and is not; 0 without such an hour',
    registers: [registry],
    collect() {
      this.set(oldest === null ? 0 : Math.max(0, clock() - oldest) / 1000);
    },
  });
  return {
    finished({ faults, oldestOpen }) {
      oldest = oldestOpen;
      metrics.faults.inc(faults);
      metrics.lastRun.set(clock() / 1000);
    },
  };
}

function defineMetrics(registry: Registry) {
  const registers = [registry];
  return {
    faults: new Counter({
      name: 'transcript_receiver_merge_faults_total',
      help: 'Faults of merging: hours that failed, and what is damaged, missing or lost, by run',
      registers,
    }),
    lastRun: new Gauge({
      name: 'transcript_receiver_merge_last_run_timestamp_seconds',
      help: 'When the last run ended; 0 before the first',
      registers,
    }),
  };
}
