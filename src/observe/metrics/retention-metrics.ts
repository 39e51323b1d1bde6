import { Counter, Gauge, type Registry } from 'prom-client';

/** Sweeps of a file store by age. */
export interface RetentionMetrics {
  /** Records the end of a sweep. */
  finished(sweep: { readonly faults: number }): void;
}

export function createRetentionMetrics(registry: Registry, clock: () => number): RetentionMetrics {
  const registers = [registry];
  const faults = new Counter({
    name: 'transcript_receiver_retention_faults_total',
    help: 'Failures of sweeps by age: what has ended and is still there is removed by a later one',
    registers,
  });
  const lastRun = new Gauge({
    name: 'transcript_receiver_retention_last_run_timestamp_seconds',
    help: 'When the last sweep by age of this process ended; 0 before the first',
    registers,
  });
  return {
    finished(sweep) {
      faults.inc(sweep.faults);
      lastRun.set(clock() / 1000);
    },
  };
}
