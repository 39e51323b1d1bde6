import { isDelivery } from '../../../domain/delivery.js';
import { createDurationHistogram, type Percentiles } from '../../rollup/duration-histogram.js';
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
const MAX_COUNTED_NAMES = 100;

/** Figures in little memory. */
export interface PackedFigures {
  readonly lines: number;
  readonly bytes: number;
  readonly outcomes: ReadonlyMap<string, number>;
  readonly regions: ReadonlyMap<string, number>;
  /** Buckets of a duration histogram, each followed by its callbacks. */
  readonly durations: Uint32Array;
  readonly maxDuration: number;
}

/** Figures that are still being added up. */
export interface Figures {
  add(row: LedgerRow): void;
  addPacked(packed: PackedFigures): void;
  packed(): PackedFigures;
  result(): SummaryFigures;
}

export function createFigures(): Figures {
  const outcomes = new Map<string, number>();
  const regions = new Map<string, number>();
  const durations = createDurationHistogram();
  let [lines, bytes] = [0, 0];

  return {
    add(row) {
      if (!isDelivery(row.origin)) return;
      lines += 1;
      bytes += row.bytes;
      countUp(outcomes, row.outcome, 1);
      countUp(regions, row.region ?? 'none', 1);
      if (row.origin === 'callback') durations.add(row.durationMs);
    },
    addPacked(packed) {
      lines += packed.lines;
      bytes += packed.bytes;
      for (const [name, count] of packed.outcomes) countUp(outcomes, name, count);
      for (const [name, count] of packed.regions) countUp(regions, name, count);
      durations.addCounts(packed.durations, packed.maxDuration);
    },
    packed: () => ({
      ...{ lines, bytes, outcomes, regions },
      ...{ durations: durations.counts(), maxDuration: durations.max() },
    }),
    result: () => ({
      lines,
      bytes,
      outcomes: Object.fromEntries(outcomes),
      regions: Object.fromEntries(regions),
      duration: durations.percentiles(),
    }),
  };
}

/** Further names than `MAX_COUNTED_NAMES` count as `other`. */
export function countUp(counts: Map<string, number>, name: string, by: number): void {
  const known = counts.get(name);
  if (known !== undefined || counts.size < MAX_COUNTED_NAMES || name === 'other')
    counts.set(name, (known ?? 0) + by);
  else countUp(counts, 'other', by);
}
