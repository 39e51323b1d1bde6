import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type LedgerMetrics = ReturnType<typeof createLedgerMetrics>;

const QUARANTINE_EVENTS = ['kept', 'refused', 'released'] as const;
type QuarantineEvent = (typeof QUARANTINE_EVENTS)[number];

/** Metrics of the ledger and the quarantine. */
export function createLedgerMetrics(registry: Registry) {
  const metrics = defineMetrics(registry);
  // Present from the start: increase() does not see the first value of a series, so that an alert would miss it.
  for (const event of QUARANTINE_EVENTS) metrics.quarantined.inc({ event }, 0);
  return {
    /** Records a segment that became durable. */
    segmentWritten({ lines, durationMs }: { lines: number; durationMs: number }): void {
      metrics.lines.observe(lines);
      metrics.duration.observe(durationMs / 1000);
    },
    /** Counts an undecodable body: kept, refused because too large, or released by an operator. */
    quarantine: (event: QuarantineEvent) => metrics.quarantined.inc({ event }),
  };
}

function defineMetrics(registry: Registry) {
  const registers = [registry];
  return {
    lines: new Histogram({
      name: 'transcript_receiver_ledger_segment_lines',
      help: 'Lines per ledger segment, that is, per group commit',
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
      registers,
    }),
    duration: new Histogram({
      name: 'transcript_receiver_ledger_segment_write_seconds',
      help: 'Duration of ledger segment writes',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    quarantined: new Counter({
      name: 'transcript_receiver_quarantine_bodies_total',
      help: 'Undecodable bodies by event: kept, refused as too large, released',
      labelNames: ['event'],
      registers,
    }),
  };
}

/** Metrics of the merge of the ledger in this process. */
export function createMergeMetrics(registry: Registry, clock: () => number) {
  const metrics = defineMergeMetrics(registry);
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
    /** Records the end of a run; `oldestOpen` is the end of the oldest whole hour that is not merged, or null. */
    finished({ faults, oldestOpen }: { faults: number; oldestOpen: number | null }): void {
      oldest = oldestOpen;
      metrics.faults.inc(faults);
      metrics.lastRun.set(clock() / 1000);
    },
  };
}

function defineMergeMetrics(registry: Registry) {
  const registers = [registry];
  return {
    faults: new Counter({
      name: 'transcript_receiver_merge_faults_total',
      help: 'Faults of merging: hours that failed, and what is damaged, missing or lost, by run',
      registers,
    }),
    lastRun: new Gauge({
      name: 'transcript_receiver_merge_last_run_timestamp_seconds',
      help: 'When the last run of the merge ended; 0 before the first',
      registers,
    }),
  };
}
