import { Counter, Gauge, type Registry } from 'prom-client';

/** Compaction of the ledger in this process. */
export interface CompactionMetrics {
  /** Counts a file that was written, with its lines. */
  file(lines: number): void;
  /** Records the end of a run; `oldestOpen` is the end of the oldest closed hour that is not compacted, or null. */
  finished(run: { hours: number; faults: number; deleted: number; oldestOpen: number | null }): void;
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
    file(lines) {
      metrics.files.inc();
      metrics.lines.inc(lines);
    },
    finished({ hours, faults, deleted, oldestOpen }) {
      oldest = oldestOpen;
      metrics.hours.inc(hours);
      metrics.faults.inc(faults);
      metrics.deleted.inc(deleted);
      metrics.lastRun.set(clock() / 1000);
    },
  };
}

function defineMetrics(registry: Registry) {
  const registers = [registry];
  return {
    files: new Counter({
      name: 'transcript_receiver_compaction_files_total',
      help: 'Parquet files of the ledger written by this process',
      registers,
    }),
    lines: new Counter({
      name: 'transcript_receiver_compaction_lines_total',
      help: 'Ledger lines in those files',
      registers,
    }),
    hours: new Counter({
      name: 'transcript_receiver_compaction_hours_total',
      help: 'Hours of the ledger for which this process wrote files',
      registers,
    }),
    deleted: new Counter({
      name: 'transcript_receiver_compaction_segments_deleted_total',
      help: 'Segments deleted because a file that was read back replaces them',
      registers,
    }),
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
