import type { PeriodFigures } from '../../domain/summary-figures.js';
import type { LineClass } from '../line-classes.js';
import { durationBucket, longestOfBucket, percentilesOf } from './duration-percentiles.js';

/** Stands for addresses of no region. */
export const NO_REGION = 'none';

/** Upper bound of distinct names, which senders and hand-edited lines choose. Further names count as `other`. */
const MAX_COUNTED_NAMES = 100;

/** Sums of lines. They can be sent to another thread. */
export interface Figures {
  lines: number;
  bytes: number;
  callbacks: number;
  refused: number;
  /** Milliseconds of the longest callback. */
  longest: number;
  readonly outcomes: Map<string, number>;
  /** Callbacks by the bucket of their duration. */
  readonly buckets: Map<number, number>;
}

export function noFigures(): Figures {
  const nothing = { lines: 0, bytes: 0, callbacks: 0, refused: 0, longest: 0 };
  return { ...nothing, outcomes: new Map(), buckets: new Map() };
}

/** Columns of a row of lines of one class. Callbacks of one row have the same bucket, which a row of a single line need not have. */
type FigureRow = Readonly<Partial<Record<'lines' | 'bytes' | 'took' | 'bucket', unknown>>>;

export function addRow(figures: Figures, { origin, outcome }: LineClass, row: FigureRow): void {
  const lines = Number(row.lines);
  figures.lines += lines;
  figures.bytes += Number(row.bytes);
  countName(figures.outcomes, outcome, lines);
  if (origin !== 'callback') return;
  const took = Number(row.took);
  figures.callbacks += lines;
  figures.refused += outcome === 'refused' ? lines : 0;
  figures.longest = Math.max(figures.longest, took);
  count(figures.buckets, Number(row.bucket ?? durationBucket(took)), lines);
}

export function addFigures(figures: Figures, more: Figures): void {
  for (const name of ['lines', 'bytes', 'callbacks', 'refused'] as const) figures[name] += more[name];
  figures.longest = Math.max(figures.longest, more.longest);
  for (const [name, by] of more.outcomes) countName(figures.outcomes, name, by);
  for (const [bucket, by] of more.buckets) count(figures.buckets, bucket, by);
}

/** Requests of the service that were refused and left no line. */
export function addRefusedRequests(figures: Figures, by: number): void {
  figures.callbacks += by;
  figures.refused += by;
}

/** What is left of all lines without some of them. The longest duration that is left is known as well as a percentile is. */
export function figuresWithout(all: Figures, some: Figures): Figures {
  const buckets = less(all.buckets, some.buckets);
  // Lines may have come since all were added up.
  return {
    lines: Math.max(0, all.lines - some.lines),
    bytes: Math.max(0, all.bytes - some.bytes),
    callbacks: Math.max(0, all.callbacks - some.callbacks),
    refused: Math.max(0, all.refused - some.refused),
    longest: Math.min(all.longest, longestOfBucket(Math.max(0, ...buckets.keys()))),
    outcomes: less(all.outcomes, some.outcomes),
    buckets,
  };
}

export function periodFigures(figures: Figures): PeriodFigures {
  const { lines, bytes, callbacks, refused, longest, outcomes, buckets } = figures;
  return {
    ...{ lines, bytes, callbacks, refused },
    outcomes: Object.fromEntries(outcomes),
    duration: percentilesOf(buckets, longest),
  };
}

/** Figures by the name of their group. */
export type FigureGroups = Map<string, Figures>;

export function figuresIn(groups: FigureGroups, name: string): Figures {
  const known = groups.get(name) ?? noFigures();
  groups.set(name, known);
  return known;
}

function countName(counts: Map<string, number>, name: string, by: number): void {
  const isCounted = counts.has(name) || counts.size < MAX_COUNTED_NAMES;
  count(counts, isCounted ? name : 'other', by);
}

function count<Name>(counts: Map<Name, number>, name: Name, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}

function less<Name>(counts: ReadonlyMap<Name, number>, by: ReadonlyMap<Name, number>): Map<Name, number> {
  const left = [...counts].map(([name, number]) => [name, number - (by.get(name) ?? 0)] as const);
  return new Map(left.filter(([, number]) => number > 0));
}
