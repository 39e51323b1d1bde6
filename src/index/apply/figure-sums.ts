import type { DatabaseSync } from 'node:sqlite';
import type { LedgerLine } from '../../domain/delivery.js';
import type { LineClass } from '../line-classes.js';
import { durationBucket } from '../queries/duration-percentiles.js';
import { WIDTHS } from '../schema.js';

/**
 * Adds lines up by the time of writing, class and duration. The sums of a transaction are written at its end: a segment has many lines of the
 * same kind.
 */
export interface FigureSums {
  /** @param written in milliseconds since the epoch */
  add(written: number, lineClass: LineClass, line: LedgerLine): void;
  save(): void;
  clear(): void;
}

interface Sum {
  readonly key: readonly [width: number, start: number, lineClass: number, bucket: number];
  lines: number;
  bytes: number;
  longest: number;
}

/** The bucket of lines that are no callbacks. */
const NO_CALLBACK = -1;

export function createFigureSums(database: DatabaseSync): FigureSums {
  const sums = new Map<string, Sum>();
  const save = database.prepare(`
    INSERT INTO figures VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
      lines = lines + excluded.lines, bytes = bytes + excluded.bytes, longest = max(longest, excluded.longest)`);

  return {
    add(written, { id, origin }, { bytes, durationMs }) {
      const took = origin === 'callback' ? numberOf(durationMs) : 0;
      const bucket = origin === 'callback' ? durationBucket(took) : NO_CALLBACK;
      for (const width of WIDTHS) {
        const key = [width, Math.floor(written / width) * width, id, bucket] as const;
        const name = key.join();
        const sum = sums.get(name) ?? { key, lines: 0, bytes: 0, longest: 0 };
        sums.set(name, sum);
        sum.lines += 1;
        sum.bytes += numberOf(bytes);
        sum.longest = Math.max(sum.longest, took);
      }
    },
    save() {
      for (const { key, lines, bytes, longest } of sums.values()) save.run(...key, lines, bytes, longest);
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
