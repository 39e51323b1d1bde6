import type { SegmentPlace } from '../segment-key.js';

/** A segment of an hour. */
export type Numbered = Pick<SegmentPlace, 'writer' | 'number'>;

/** Segments of an hour, such as those that its records have. */
export interface CoveredSegments {
  has(segment: Numbered): boolean;
  /** The writers, and the highest number of each. */
  readonly last: ReadonlyMap<string, number>;
  /** The last number in a row behind one; the number itself when the next one is not among them. */
  endBehind(segment: Numbered): number;
  /** Numbers that are missing although a later one of their writer is among them: lost segments. */
  gaps(): Gap[];
}

interface Gap {
  readonly writer: string;
  readonly from: number;
  readonly to: number;
}

type Range = [from: number, to: number];

export function coveredNumbers(parts: readonly { readonly segments: Iterable<Numbered> }[]): CoveredSegments {
  const ranges = rangesOf(parts);
  const rangeWith = ({ writer, number }: Numbered) => {
    const own = ranges.get(writer) ?? [];
    const range = own[indexBehind(own, number) - 1];
    return range !== undefined && number <= range[1] ? range : undefined;
  };
  return {
    last: new Map([...ranges].map(([writer, own]) => [writer, own.at(-1)?.[1] ?? 0])),
    has: (segment) => rangeWith(segment) !== undefined,
    endBehind: ({ writer, number }) => rangeWith({ writer, number: number + 1 })?.[1] ?? number,
    gaps: () =>
      [...ranges].flatMap(([writer, own]) =>
        own
          .map(([from], index) => ({ writer, from: (own[index - 1]?.[1] ?? 0) + 1, to: from - 1 }))
          .filter(({ from, to }) => from <= to),
      ),
  };
}

/** The ranges of each writer, ascending, with gaps between them. */
function rangesOf(parts: readonly { readonly segments: Iterable<Numbered> }[]): Map<string, Range[]> {
  const found = new Map<string, Range[]>();
  for (const { segments } of parts)
    for (const { writer, number } of segments) {
      const own = found.get(writer) ?? [];
      found.set(writer, own);
      const last = own.at(-1);
      if (last !== undefined && last[1] === number - 1) last[1] = number;
      else own.push([number, number]);
    }
  return new Map([...found].map(([writer, own]) => [writer, joined(own)]));
}

function joined(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = result.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}

/** Index of the first range that begins behind a number. */
function indexBehind(ranges: readonly Range[], number: number): number {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.[0] ?? 0) <= number) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function describeGap(hour: string, { writer, from, to }: Gap): string {
  const numbers = from === to ? `number ${from}` : `numbers ${from} to ${to}`;
  return `ledger/${hour} has lost ${numbers} of ${writer}`;
}
