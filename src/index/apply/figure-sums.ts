import type { DatabaseSync } from 'node:sqlite';
import type { LedgerLine } from '../../domain/delivery.js';
import { durationBucket } from '../../ledger/rollup/duration-histogram.js';
import type { LineClass } from '../line-classes.js';

/** Adds lines up by hour and class. The sums of a transaction are written at its end: a segment has many lines of the same class. */
export interface FigureSums {
  add(hour: number, lineClass: LineClass, line: LedgerLine): void;
  save(): void;
  clear(): void;
}

interface Sum {
  readonly hour: number;
  readonly class: number;
  lines: number;
  bytes: number;
  longest: number;
  latest: number;
  readonly buckets: Map<number, number>;
}

export function createFigureSums(database: DatabaseSync): FigureSums {
  const sums = new Map<string, Sum>();
  const saveSum = database.prepare(`
    INSERT INTO figures VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
      lines = lines + excluded.lines, bytes = bytes + excluded.bytes, longest = max(longest, excluded.longest),
      latest = max(latest, excluded.latest)`);
  const saveBucket = database.prepare(
    'INSERT INTO durations VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET lines = lines + excluded.lines',
  );
  return {
    add(hour, { id, origin }, { bytes, durationMs, receivedAt }) {
      const name = `${hour} ${id}`;
      const sum = sums.get(name) ?? {
        hour,
        class: id,
        lines: 0,
        bytes: 0,
        longest: 0,
        latest: 0,
        buckets: new Map(),
      };
      sums.set(name, sum);
      sum.lines += 1;
      sum.bytes += numberOf(bytes);
      sum.latest = Math.max(sum.latest, Date.parse(receivedAt));
      if (origin !== 'callback') return;
      const duration = numberOf(durationMs);
      const bucket = durationBucket(duration);
      sum.longest = Math.max(sum.longest, duration);
      sum.buckets.set(bucket, (sum.buckets.get(bucket) ?? 0) + 1);
    },
    save() {
      for (const { hour, class: id, lines, bytes, longest, latest, buckets } of sums.values()) {
        saveSum.run(hour, id, lines, bytes, longest, latest);
        for (const [bucket, count] of buckets) saveBucket.run(hour, id, bucket, count);
      }
      sums.clear();
    },
    clear: () => sums.clear(),
  };
}

/** Lines that were edited by hand can hold anything. */
function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.max(0, value) : 0;
}
