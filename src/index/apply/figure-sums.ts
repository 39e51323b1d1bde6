import type { DatabaseSync } from 'node:sqlite';
import type { LedgerLine } from '../../domain/delivery.js';
import { durationBucket } from '../queries/duration-percentiles.js';
import { WIDTHS } from '../schema.js';

/** The values of a line that figures are made of. */
export interface LineFigures {
  readonly bytes: number;
  /** Milliseconds of a callback; null for other lines. */
  readonly took: number | null;
  /** Bucket of a callback's duration. */
  readonly bucket: number;
}

/** @param took milliseconds of a callback; null for other lines */
export function lineFigures({ bytes }: LedgerLine, took: number | null): LineFigures {
  return { bytes: numberOf(bytes), took, bucket: took === null ? NO_CALLBACK : durationBucket(took) };
}

interface Sum {
  readonly key: readonly [width: number, start: number, lineClass: number, bucket: number];
  lines: number;
  bytes: number;
  longest: number;
}

/** The bucket of lines that are no callbacks. */
const NO_CALLBACK = -1;

/**
 * Sums lines by time of writing, class and duration. The sums are written at the end of a transaction, because a segment has many similar
 * lines.
 */
export function createFigureSums(database: DatabaseSync) {
  const sums = new Map<string, Sum>();
  const save = database.prepare(`
    INSERT INTO figures VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
      lines = lines + excluded.lines, bytes = bytes + excluded.bytes, longest = max(longest, excluded.longest)`);

  return {
    /**
     * @param written in milliseconds since the epoch
     * @param lineClass id of the class
     */
    add(written: number, lineClass: number, { bytes, took, bucket }: LineFigures): void {
      for (const width of WIDTHS) {
        const key = [width, Math.floor(written / width) * width, lineClass, bucket] as const;
        const name = key.join();
        const sum = sums.get(name) ?? { key, lines: 0, bytes: 0, longest: 0 };
        sums.set(name, sum);
        sum.lines += 1;
        sum.bytes += bytes;
        sum.longest = Math.max(sum.longest, took ?? 0);
      }
    },
    save(): void {
      for (const { key, lines, bytes, longest } of sums.values()) save.run(...key, lines, bytes, longest);
      sums.clear();
    },
    clear: () => sums.clear(),
  };
}

/** Larger than any value of an unedited line, and small enough that sums of thousands stay exact. */
const MAX_FIGURE = 2 ** 40;

/** A number from a line, which may hold anything after it was edited by hand. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(MAX_FIGURE, Math.max(0, value)) : 0;
}
