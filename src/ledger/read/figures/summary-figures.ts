import { isDelivery } from '../../../domain/delivery.js';
import {
  createDurationHistogram,
  type DurationHistogram,
  type Percentiles,
} from '../../rollup/duration-histogram.js';
import type { LedgerRow } from '../window/ledger-row.js';

export interface SummaryFigures {
  readonly lines: number;
  readonly bytes: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly regions: Readonly<Record<string, number>>;
  /** Milliseconds a callback took; null without callbacks. */
  readonly duration: Percentiles | null;
}

/** Upper bound of distinct names, which senders and hand-edited lines choose. Further names count as `other`. */
export const MAX_COUNTED_NAMES = 100;

/** The buckets of a duration histogram that are not empty. */
interface PackedDurations {
  /** Bucket, count, bucket, count … */
  readonly pairs: Uint32Array;
  readonly max: number;
}

/** Figures in little memory. */
export interface PackedFigures {
  readonly lines: number;
  readonly bytes: number;
  readonly outcomes: ReadonlyMap<string, number>;
  readonly regions: ReadonlyMap<string, number>;
  readonly durations: PackedDurations;
}

/** Figures that are still being added up. */
export interface Figures {
  readonly parts: FigureParts;
  add(row: LedgerRow): void;
  addPacked(packed: PackedFigures): void;
  addAll(other: Figures): void;
  result(): SummaryFigures;
}

interface FigureParts {
  lines: number;
  bytes: number;
  readonly outcomes: Counts;
  readonly regions: Counts;
  readonly durations: DurationHistogram;
}

type Counts = Map<string, { count: number }>;

export function createFigures(): Figures {
  const parts: FigureParts = {
    lines: 0,
    bytes: 0,
    outcomes: new Map(),
    regions: new Map(),
    durations: createDurationHistogram(),
  };
  return {
    parts,
    add(row) {
      if (!isDelivery(row.origin)) return;
      parts.lines += 1;
      parts.bytes += row.bytes;
      countUp(parts.outcomes, row.outcome, 1);
      countUp(parts.regions, row.region ?? 'none', 1);
      if (row.origin === 'callback') parts.durations.add(row.durationMs);
    },
    addPacked({ lines, bytes, outcomes, regions, durations }) {
      parts.lines += lines;
      parts.bytes += bytes;
      for (const [name, count] of outcomes) countUp(parts.outcomes, name, count);
      for (const [name, count] of regions) countUp(parts.regions, name, count);
      parts.durations.addCounts(pairsOf(durations.pairs), durations.max);
    },
    addAll({ parts: other }) {
      parts.lines += other.lines;
      parts.bytes += other.bytes;
      for (const [name, { count }] of other.outcomes) countUp(parts.outcomes, name, count);
      for (const [name, { count }] of other.regions) countUp(parts.regions, name, count);
      parts.durations.addAll(other.durations);
    },
    result: () => ({
      lines: parts.lines,
      bytes: parts.bytes,
      outcomes: asRecord(parts.outcomes),
      regions: asRecord(parts.regions),
      duration: parts.durations.percentiles(),
    }),
  };
}

function* pairsOf(pairs: Uint32Array): Generator<[number, number]> {
  for (let index = 0; index < pairs.length; index += 2) yield [pairs[index] ?? 0, pairs[index + 1] ?? 0];
}

function countUp(counts: Counts, name: string, by: number): void {
  const entry = counts.get(name);
  if (entry) entry.count += by;
  else if (counts.size < MAX_COUNTED_NAMES || name === 'other') counts.set(name, { count: by });
  else countUp(counts, 'other', by);
}

function asRecord(counts: Counts): Record<string, number> {
  return Object.fromEntries([...counts].map(([name, { count }]) => [name, count]));
}
