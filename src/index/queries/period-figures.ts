import { type Percentiles, percentilesOf } from './duration-percentiles.js';

/** Figures of deliveries. */
export interface PeriodFigures {
  readonly lines: number;
  readonly bytes: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly regions: Readonly<Record<string, number>>;
  /** Milliseconds a callback took; null without callbacks. */
  readonly duration: Percentiles | null;
}

/** Stands for addresses of no region, as in the figures by region. */
export const NO_REGION = 'none';

/** Upper bound of distinct names, which senders and hand-edited lines choose. Further names count as `other`. */
const MAX_COUNTED_NAMES = 100;

export function createPeriodFigures() {
  const outcomes = new Map<string, number>();
  const regions = new Map<string, number>();
  const buckets = new Map<number, number>();
  let [lines, bytes, longest] = [0, 0, 0];

  function addDurations(bucket: number, count: number): void {
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + count);
  }

  function addAll(other: Figures): void {
    const known = other.sums();
    lines += known.lines;
    bytes += known.bytes;
    longest = Math.max(longest, known.longest);
    for (const [name, count] of known.outcomes) addTo(outcomes, name, count);
    for (const [name, count] of known.regions) addTo(regions, name, count);
    for (const [bucket, count] of known.buckets) addDurations(bucket, count);
  }

  return {
    /** Adds lines of one outcome and region. */
    add(
      { outcome, region }: { readonly outcome: string; readonly region: string | null },
      sum: { readonly lines: number; readonly bytes: number; readonly longest: number },
    ): void {
      lines += sum.lines;
      bytes += sum.bytes;
      longest = Math.max(longest, sum.longest);
      addTo(outcomes, outcome, sum.lines);
      addTo(regions, region ?? NO_REGION, sum.lines);
    },
    addDurations,
    addAll,
    sums: () => ({ lines, bytes, longest, outcomes, regions, buckets }),
    result(): PeriodFigures {
      return {
        ...{ lines, bytes },
        outcomes: Object.fromEntries(outcomes),
        regions: Object.fromEntries(regions),
        duration: percentilesOf(buckets, longest),
      };
    },
  };
}

/** Figures that are still being added up. */
interface Figures {
  sums(): {
    readonly lines: number;
    readonly bytes: number;
    readonly longest: number;
    readonly outcomes: ReadonlyMap<string, number>;
    readonly regions: ReadonlyMap<string, number>;
    readonly buckets: ReadonlyMap<number, number>;
  };
}

function addTo(counts: Map<string, number>, name: string, by: number): void {
  const known = counts.get(name);
  if (known !== undefined || counts.size < MAX_COUNTED_NAMES || name === 'other')
    counts.set(name, (known ?? 0) + by);
  else addTo(counts, 'other', by);
}
