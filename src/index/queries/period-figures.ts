import type { PeriodFigures } from '../../domain/summary-figures.js';
import { longestOfBucket, percentilesOf } from './duration-percentiles.js';

/** Stands for addresses of no region, as in the figures by region. */
export const NO_REGION = 'none';

/** Upper bound of distinct names, which senders and hand-edited lines choose. Further names count as `other`. */
const MAX_COUNTED_NAMES = 100;

/** Sums from which figures are computed. They can be sent to another thread. */
export interface FigureParts {
  readonly lines: number;
  readonly bytes: number;
  readonly longest: number;
  readonly callbacks: number;
  readonly refused: number;
  readonly outcomes: ReadonlyMap<string, number>;
  readonly regions: ReadonlyMap<string, number>;
  /** Callbacks by the bucket of their duration. */
  readonly buckets: ReadonlyMap<number, number>;
}

/** Figures that are still being added up. */
export interface Figures {
  /** Adds lines of one class. */
  add(
    of: { readonly origin: string; readonly outcome: string; readonly region: string | null },
    sum: { readonly lines: number; readonly bytes: number; readonly longest: number },
  ): void;
  addDurations(bucket: number, count: number): void;
  addAll(parts: FigureParts): void;
  parts(): FigureParts;
  result(): PeriodFigures;
}

export function createPeriodFigures(): Figures {
  const outcomes = new Map<string, number>();
  const regions = new Map<string, number>();
  const buckets = new Map<number, number>();
  let [lines, bytes, longest, callbacks, refused] = [0, 0, 0, 0, 0];

  function addDurations(bucket: number, count: number): void {
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + count);
  }

  function addAll(known: FigureParts): void {
    lines += known.lines;
    bytes += known.bytes;
    callbacks += known.callbacks;
    refused += known.refused;
    longest = Math.max(longest, known.longest);
    for (const [name, count] of known.outcomes) addTo(outcomes, name, count);
    for (const [name, count] of known.regions) addTo(regions, name, count);
    for (const [bucket, count] of known.buckets) addDurations(bucket, count);
  }

  return {
    add({ origin, outcome, region }, sum) {
      lines += sum.lines;
      callbacks += origin === 'callback' ? sum.lines : 0;
      refused += origin === 'callback' && outcome === 'refused' ? sum.lines : 0;
      bytes += sum.bytes;
      longest = Math.max(longest, sum.longest);
      addTo(outcomes, outcome, sum.lines);
      addTo(regions, region ?? NO_REGION, sum.lines);
    },
    addDurations,
    addAll,
    parts: () => ({ lines, bytes, longest, callbacks, refused, outcomes, regions, buckets }),
    result() {
      return {
        ...{ lines, bytes, callbacks, refused },
        outcomes: Object.fromEntries(outcomes),
        regions: Object.fromEntries(regions),
        duration: percentilesOf(buckets, longest),
      };
    },
  };
}

/** Figures by the name of their group. */
export type FigureGroups = Map<string, Figures>;

export function figuresIn(groups: FigureGroups, name: string): Figures {
  const known = groups.get(name);
  if (known !== undefined) return known;
  const begun = createPeriodFigures();
  groups.set(name, begun);
  return begun;
}

/** Requests of the service that were refused and left no line. */
export function refusedRequests(count: number): FigureParts {
  return { ...createPeriodFigures().parts(), callbacks: count, refused: count };
}

/** What is left of all lines without some of them. The longest duration that is left is known as well as a percentile is. */
export function figuresWithout(all: FigureParts, some: FigureParts): FigureParts {
  const less = <Name>(counts: ReadonlyMap<Name, number>, by: ReadonlyMap<Name, number>) =>
    new Map(
      [...counts]
        .map(([name, count]) => [name, count - (by.get(name) ?? 0)] as const)
        .filter(([, count]) => count > 0),
    );
  const buckets = less(all.buckets, some.buckets);
  return {
    lines: Math.max(0, all.lines - some.lines),
    bytes: Math.max(0, all.bytes - some.bytes),
    callbacks: Math.max(0, all.callbacks - some.callbacks),
    refused: Math.max(0, all.refused - some.refused),
    longest: Math.min(all.longest, longestOfBucket(Math.max(0, ...buckets.keys()))),
    outcomes: less(all.outcomes, some.outcomes),
    regions: less(all.regions, some.regions),
    buckets,
  };
}

function addTo(counts: Map<string, number>, name: string, by: number): void {
  const known = counts.get(name);
  if (known !== undefined || counts.size < MAX_COUNTED_NAMES || name === 'other')
    counts.set(name, (known ?? 0) + by);
  else addTo(counts, 'other', by);
}
