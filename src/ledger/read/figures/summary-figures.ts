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

/** Figures that can be added to others. */
interface FigureSum {
  readonly lines: number;
  readonly bytes: number;
  readonly outcomes: Iterable<readonly [name: string, lines: number]>;
  readonly regions: Iterable<readonly [name: string, lines: number]>;
  /** Callbacks by bucket of a duration histogram. */
  readonly durations: Iterable<readonly [bucket: number, callbacks: number]>;
  readonly maxDuration: number;
}

/** Figures in little memory. */
export interface PackedFigures extends Pick<FigureSum, 'lines' | 'bytes' | 'maxDuration'> {
  readonly outcomes: ReadonlyMap<string, number>;
  readonly regions: ReadonlyMap<string, number>;
  /** Bucket, callbacks, bucket, callbacks … */
  readonly durations: Uint32Array;
}

/** Figures that are still being added up. */
export interface Figures {
  add(row: LedgerRow): void;
  addSum(sum: FigureSum): void;
  addPacked(packed: PackedFigures): void;
  packed(): PackedFigures;
  result(): SummaryFigures;
}

export function createFigures(): Figures {
  const outcomes = new Map<string, number>();
  const regions = new Map<string, number>();
  const durations = createDurationHistogram();
  let [lines, bytes] = [0, 0];

  function addSum(sum: FigureSum): void {
    lines += sum.lines;
    bytes += sum.bytes;
    for (const [name, count] of sum.outcomes) countUp(outcomes, name, count);
    for (const [name, count] of sum.regions) countUp(regions, name, count);
    durations.addCounts(sum.durations, sum.maxDuration);
  }

  return {
    add(row) {
      if (!isDelivery(row.origin)) return;
      lines += 1;
      bytes += row.bytes;
      countUp(outcomes, row.outcome, 1);
      countUp(regions, row.region ?? 'none', 1);
      if (row.origin === 'callback') durations.add(row.durationMs);
    },
    addSum,
    addPacked: (packed) => addSum({ ...packed, durations: pairsIn(packed.durations) }),
    packed() {
      const pairs: number[] = [];
      durations.buckets.forEach((count, bucket) => {
        if (count > 0) pairs.push(bucket, count);
      });
      const maxDuration = durations.max();
      return { lines, bytes, outcomes, regions, durations: Uint32Array.from(pairs), maxDuration };
    },
    result: () => ({
      lines,
      bytes,
      outcomes: Object.fromEntries(outcomes),
      regions: Object.fromEntries(regions),
      duration: durations.percentiles(),
    }),
  };
}

function* pairsIn(pairs: Uint32Array): Generator<[number, number]> {
  for (let index = 0; index < pairs.length; index += 2) yield [pairs[index] ?? 0, pairs[index + 1] ?? 0];
}

function countUp(counts: Map<string, number>, name: string, by: number): void {
  const known = counts.get(name);
  if (known !== undefined || counts.size < MAX_COUNTED_NAMES || name === 'other')
    counts.set(name, (known ?? 0) + by);
  else countUp(counts, 'other', by);
}
