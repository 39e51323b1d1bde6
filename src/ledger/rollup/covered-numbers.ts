import type { SegmentPlace } from '../segment-key.js';
import type { CoveredNumbers } from './rollup.js';

type Numbered = Pick<SegmentPlace, 'writer' | 'number'>;

/** The ranges of some segments. Those of a writer come in ascending order. */
export function rangesOf(segments: Iterable<Numbered>): CoveredNumbers {
  const ranges: Record<string, [from: number, to: number][]> = {};
  for (const { writer, number } of segments) {
    ranges[writer] ??= [];
    const last = ranges[writer].at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges[writer].push([number, number]);
  }
  return ranges;
}

/** The segments of ranges, writer by writer. */
export function* segmentsIn(covered: CoveredNumbers): Generator<Numbered> {
  for (const [writer, ranges] of Object.entries(covered)) {
    for (const [from, to] of ranges)
      for (let number = from; number <= to; number += 1) yield { writer, number };
  }
}

export function countOf(covered: CoveredNumbers): number {
  return Object.values(covered).reduce(
    (sum, ranges) => sum + ranges.reduce((count, [from, to]) => count + to - from + 1, 0),
    0,
  );
}

function rangesByWriter(parts: readonly CoveredNumbers[]) {
  const writers = new Map<string, (readonly [from: number, to: number])[]>();
  for (const [writer, own] of parts.flatMap((part) => Object.entries(part)))
    writers.set(writer, [...(writers.get(writer) ?? []), ...own]);
  return writers;
}

/** Whether one of some files covers a segment. */
export function createCoverage(files: readonly { readonly writers: CoveredNumbers }[]) {
  const ranges = rangesByWriter(files.map(({ writers }) => writers));
  return ({ writer, number }: Numbered): boolean =>
    ranges.get(writer)?.some(([from, to]) => from <= number && number <= to) ?? false;
}

/** Numbers that are missing: lost segments. */
export interface Gap {
  readonly writer: string;
  readonly from: number;
  readonly to: number;
}

/** The gaps of an hour between 1 and the last number of each writer, of what its segments and its files have. */
export function findGaps(parts: readonly CoveredNumbers[]): Gap[] {
  return [...rangesByWriter(parts)].flatMap(([writer, ranges]) => {
    const gaps: Gap[] = [];
    let next = 1;
    for (const [from, to] of ranges.sort(([a], [b]) => a - b)) {
      if (from > next) gaps.push({ writer, from: next, to: from - 1 });
      next = Math.max(next, to + 1);
    }
    return gaps;
  });
}

export function describeGap(hour: string, { writer, from, to }: Gap): string {
  const numbers = from === to ? `number ${from}` : `numbers ${from} to ${to}`;
  return `ledger/${hour} has lost ${numbers} of ${writer}`;
}
