import { Counter, Gauge, type Registry } from 'prom-client';

/** Compaction of the ledger in this process. */
export interface CompactionMetrics {
  /** Records the end of a run; `oldestOpen` is the end of the oldest whole hour that is not compacted, or null. */
  finished(run: { faults: number; oldestOpen: number | null }): void;
}

export function createCompactionMetrics(registry: Registry, clock: () => number): CompactionMetrics {
  const metrics = defineMetrics(registry);
  let oldest: number | null = null;
  new Gauge({
    name: 'transcript_receiver_compaction_oldest_open_hour_seconds',
    help: 'Time since the end of the oldest hour of the ledger that could be compacted and is not; 0 without such an hour',
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
      name: 'transcript_receiver_compaction_faults_total',
      help: 'Hours that could not be compacted or whose file is damaged, by run',
      registers,
    }),
    lastRun: new Gauge({
      name: 'transcript_receiver_compaction_last_run_timestamp_seconds',
      help: 'When the last run ended; 0 before the first',
      registers,
    }),
  };
}
