import type { SummaryFigures } from '../../domain/summary-figures.js';
import type { LineClass } from '../line-classes.js';
import { durationBucket, longestOfBucket, percentilesOf } from './duration-percentiles.js';

/** Name for addresses of no region. */
export const NO_REGION = 'none';

/** Sums of lines. */
export interface Figures {
  lines: number;
  bytes: number;
  callbacks: number;
  refused: number;
  /** Jobs whose callback did not come. */
  missed: number;
  /** Milliseconds of the longest callback. */
  longest: number;
  readonly outcomes: Map<string, number>;
  /** Callbacks by the bucket of their duration. */
  readonly buckets: Map<number, number>;
}

const COUNTED = ['lines', 'bytes', 'callbacks', 'refused', 'missed'] as const;

export function noFigures(): Figures {
  const nothing = { lines: 0, bytes: 0, callbacks: 0, refused: 0, missed: 0, longest: 0 };
  return { ...nothing, outcomes: new Map(), buckets: new Map() };
}

/** Row of summed lines of one class. Its callbacks have the same bucket, which may be absent for a single line. */
type FigureRow = Readonly<Partial<Record<'lines' | 'bytes' | 'took' | 'bucket', unknown>>>;

export function addRow(figures: Figures, { origin, outcome }: LineClass, row: FigureRow): void {
  const lines = Number(row.lines);
  figures.lines += lines;
  figures.bytes += Number(row.bytes);
  count(figures.outcomes, outcome, lines);
  if (origin !== 'callback') return;
  const took = Number(row.took);
  figures.callbacks += lines;
  figures.refused += outcome === 'refused' ? lines : 0;
  figures.longest = Math.max(figures.longest, took);
  count(figures.buckets, Number(row.bucket ?? durationBucket(took)), lines);
}

/** The figures of a group, added when it is new. */
export function figuresIn<Name>(groups: Map<Name, Figures>, name: Name): Figures {
  const known = groups.get(name) ?? noFigures();
  groups.set(name, known);
  return known;
}

export function sumOf(all: Iterable<Figures>): Figures {
  const sum = noFigures();
  for (const each of all) {
    for (const name of COUNTED) sum[name] += each[name];
    sum.longest = Math.max(sum.longest, each.longest);
    for (const [name, by] of each.outcomes) count(sum.outcomes, name, by);
    for (const [bucket, by] of each.buckets) count(sum.buckets, bucket, by);
  }
  return sum;
}

/** Subtracts figures. The longest remaining duration is as precise as a percentile. */
export function figuresWithout(all: Figures, some: Figures): Figures {
  const left = noFigures();
  for (const name of COUNTED) left[name] = all[name] - some[name];
  for (const [name, by] of all.outcomes) count(left.outcomes, name, by - (some.outcomes.get(name) ?? 0));
  for (const [bucket, by] of all.buckets) count(left.buckets, bucket, by - (some.buckets.get(bucket) ?? 0));
  const longest = Math.max(0, ...[...left.buckets].map(([bucket, by]) => (by > 0 ? bucket : 0)));
  left.longest = Math.min(all.longest, longestOfBucket(longest));
  return left;
}

export function shownFigures(figures: Figures): SummaryFigures {
  const { longest, outcomes, buckets, ...counted } = figures;
  return {
    ...counted,
    outcomes: Object.fromEntries([...outcomes].filter(([, lines]) => lines > 0)),
    duration: percentilesOf(buckets, longest),
  };
}

function count<Name>(counts: Map<Name, number>, name: Name, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}
