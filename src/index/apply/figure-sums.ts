import type { DatabaseSync } from 'node:sqlite';
import type { LedgerLine } from '../../domain/delivery.js';
import type { LineClass } from '../line-classes.js';
import { durationBucket } from '../queries/duration-percentiles.js';
import { type FigureWidth, WIDTHS } from '../schema.js';

/**
 * Adds lines up by the time of writing and class. The sums of a transaction are written at its end: a segment has many lines of the same
 * class.
 */
export interface FigureSums {
  /** @param written in milliseconds since the epoch */
  add(written: number, lineClass: LineClass, line: LedgerLine): void;
  save(): void;
  clear(): void;
}

interface Sum {
  readonly width: FigureWidth;
  readonly start: number;
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
    INSERT INTO figures VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
      lines = lines + excluded.lines, bytes = bytes + excluded.bytes, longest = max(longest, excluded.longest),
      latest = max(latest, excluded.latest)`);
  const saveBucket = database.prepare(
    'INSERT INTO durations VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET lines = lines + excluded.lines',
  );

  function sumOf(width: FigureWidth, written: number, { id }: LineClass): Sum {
    const start = Math.floor(written / width) * width;
    const name = `${width} ${start} ${id}`;
    const known = sums.get(name);
    if (known !== undefined) return known;
    const numbers = { lines: 0, bytes: 0, longest: 0, latest: 0 };
    const begun = { width, start, class: id, ...numbers, buckets: new Map<number, number>() };
    sums.set(name, begun);
    return begun;
  }

  return {
    add(written, lineClass, { bytes, durationMs, receivedAt }) {
      for (const width of WIDTHS) {
        const sum = sumOf(width, written, lineClass);
        sum.lines += 1;
        sum.bytes += numberOf(bytes);
        sum.latest = Math.max(sum.latest, Date.parse(receivedAt));
        if (lineClass.origin !== 'callback') continue;
        const duration = numberOf(durationMs);
        const bucket = durationBucket(duration);
        sum.longest = Math.max(sum.longest, duration);
        sum.buckets.set(bucket, (sum.buckets.get(bucket) ?? 0) + 1);
      }
    },
    save() {
      for (const sum of sums.values()) {
        const { width, start, class: id, buckets } = sum;
        saveSum.run(width, start, id, sum.lines, sum.bytes, sum.longest, sum.latest);
        for (const [bucket, count] of buckets) saveBucket.run(width, start, id, bucket, count);
      }
      sums.clear();
    },
    clear: () => sums.clear(),
  };
}

/** More than any line says that nobody edited; the sum of some thousand of them can be read back. */
const MOST = 2 ** 40;

/** Lines that were edited by hand can hold anything. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(MOST, Math.max(0, value)) : 0;
}
