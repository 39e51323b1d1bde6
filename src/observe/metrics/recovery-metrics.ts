import { Counter, Gauge, type Registry } from 'prom-client';
import { RECOVERY_OUTCOMES, type RecoveryOutcome } from '../../domain/recovery-outcome.js';
import { boundedLabel } from './delivery-metrics.js';

export type RecoveryMetrics = ReturnType<typeof createRecoveryMetrics>;

/** Metrics of reconcile. */
export function createRecoveryMetrics(registry: Registry, regions: readonly string[], clock: () => number) {
  const metrics = defineMetrics(registry);
  const regionOf = boundedLabel(regions);
  // Present from the start: a run counts many jobs at once, and increase() does not see the first value of a series.
  for (const region of regions) {
    for (const outcome of RECOVERY_OUTCOMES) metrics.jobs.inc({ outcome, region }, 0);
  }
  return {
    /** Counts a job that a run checked. */
    checked: (outcome: RecoveryOutcome, region: string | null) =>
      metrics.jobs.inc({ outcome, region: regionOf(region) }),
    /** Records the end of a run. @param ok whether it had no failures */
    finished(ok: boolean): void {
      metrics.runs.inc({ result: ok ? 'ok' : 'failed' });
      metrics.lastRun.set(clock() / 1000);
      if (ok) metrics.lastSuccess.set(clock() / 1000);
    },
  };
}

function defineMetrics(registry: Registry) {
  const registers = [registry];
  return {
    jobs: new Counter({
      name: 'transcript_receiver_recovery_jobs_total',
      help: 'Jobs checked by reconcile, by outcome and region',
      labelNames: ['outcome', 'region'],
      registers,
    }),
    runs: new Counter({
      name: 'transcript_receiver_recovery_runs_total',
      help: 'Reconcile runs by result',
      labelNames: ['result'],
      registers,
    }),
    lastRun: new Gauge({
      name: 'transcript_receiver_recovery_last_run_timestamp_seconds',
      help: 'When the last reconcile run ended; 0 before the first',
      registers,
    }),
    lastSuccess: new Gauge({
      name: 'transcript_receiver_recovery_last_success_timestamp_seconds',
      help: 'When the last reconcile run without failures ended; 0 before the first',
      registers,
    }),
  };
}
