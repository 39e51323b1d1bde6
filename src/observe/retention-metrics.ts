import { Counter, Gauge, type Registry } from 'prom-client';
import { OBJECT_KINDS, type ObjectKind } from '../domain/object-kind.js';

/** What this process removed from a file store because of its age. */
export interface RetentionMetrics {
  ended(kind: ObjectKind, objects: number, bytes: number): void;
  /** Records the end of a sweep. */
  finished(sweep: { readonly faults: number }): void;
}

export function createRetentionMetrics(registry: Registry, clock: () => number): RetentionMetrics {
  const registers = [registry];
  const objects = new Counter({
    name: 'transcript_receiver_retention_ended_objects_total',
    help: 'Objects removed because they were older than retention.<kind>, by kind',
    labelNames: ['kind'],
    registers,
  });
  const bytes = new Counter({
    name: 'transcript_receiver_retention_ended_bytes_total',
    help: 'Bytes of those objects',
    labelNames: ['kind'],
    registers,
  });
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
  for (const kind of OBJECT_KINDS) {
    objects.inc({ kind }, 0);
    bytes.inc({ kind }, 0);
  }
  return {
    ended(kind, count, size) {
      objects.inc({ kind }, count);
      bytes.inc({ kind }, size);
    },
    finished(sweep) {
      faults.inc(sweep.faults);
      lastRun.set(clock() / 1000);
    },
  };
}
