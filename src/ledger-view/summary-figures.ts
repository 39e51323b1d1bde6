import {
  createDurationHistogram,
  type DurationHistogram,
  type Percentiles,
} from '../domain/duration-histogram.js';
import type { LedgerRow } from './ledger-row.js';

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

/** Figures that are still being added up. */
export interface Figures {
  readonly parts: FigureParts;
  add(row: LedgerRow): void;
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
      parts.lines += 1;
      parts.bytes += row.bytes;
      countUp(parts.outcomes, row.outcome, 1);
      countUp(parts.regions, row.region ?? 'none', 1);
      if (row.origin === 'callback') parts.durations.add(row.durationMs);
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

function countUp(counts: Counts, name: string, by: number): void {
  const entry = counts.get(name);
  if (entry) entry.count += by;
  else if (counts.size < MAX_COUNTED_NAMES || name === 'other') counts.set(name, { count: by });
  else countUp(counts, 'other', by);
}

function asRecord(counts: Counts): Record<string, number> {
  return Object.fromEntries([...counts].map(([name, { count }]) => [name, count]));
}
