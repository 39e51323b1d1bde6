import type { UnreadableError } from '../retrying-reads.js';
import { folderOfWriter, type SegmentPlace, segmentKey } from '../segment-key.js';

/** A segment of an hour. */
export type Numbered = Pick<SegmentPlace, 'writer' | 'number'>;

export type CoveredSegments = ReturnType<typeof coveredNumbers>;

/** Consecutive numbers of a writer. */
export interface Gap {
  readonly writer: string;
  readonly from: number;
  readonly to: number;
}

/** Lost segments of an hour: a later segment of their writer exists, or they are known to have existed. */
export interface LostSegments extends Gap {
  readonly hour: string;
  /** Why an existing segment cannot be read; absent or null for missing segments. */
  readonly unreadable?: UnreadableError | null;
}

type Range = [from: number, to: number];

/** A set of segments of an hour, such as those that its records cover. */
export function coveredNumbers(parts: readonly { readonly segments: Iterable<Numbered> }[]) {
  const ranges = rangesOf(parts);
  const rangeWith = ({ writer, number }: Numbered) =>
    ranges.get(writer)?.find(([from, to]) => from <= number && number <= to);
  /** Highest number of each writer. */
  const last: ReadonlyMap<string, number> = new Map(
    [...ranges].map(([writer, own]) => [writer, own.at(-1)?.[1] ?? 0]),
  );

  /** The numbers of a range that are not in the set. */
  function missingIn({ writer, from, to }: Gap): Gap[] {
    const missing: Gap[] = [];
    let next = from;
    for (const [start, stop] of ranges.get(writer) ?? []) {
      if (stop < next) continue;
      if (start > to) break;
      if (start > next) missing.push({ writer, from: next, to: start - 1 });
      next = stop + 1;
    }
    return next <= to ? [...missing, { writer, from: next, to }] : missing;
  }

  return {
    last,
    missingIn,
    has: (segment: Numbered) => rangeWith(segment) !== undefined,
    /** The last of the consecutive numbers that follow one; the number itself when the next one is not in the set. */
    lastConsecutive: ({ writer, number }: Numbered) =>
      rangeWith({ writer, number: number + 1 })?.[1] ?? number,
    /** Numbers that are missing although a later one of their writer is in the set: lost segments. */
    gaps: () => [...last].flatMap(([writer, to]) => missingIn({ writer, from: 1, to })),
  };
}

/** Ranges of consecutive numbers of each writer, ascending. There are few: numbers rarely have gaps. */
function rangesOf(parts: readonly { readonly segments: Iterable<Numbered> }[]): Map<string, Range[]> {
  const numbers = new Map<string, number[]>();
  for (const { segments } of parts)
    for (const { writer, number } of segments) {
      const own = numbers.get(writer) ?? [];
      numbers.set(writer, own);
      own.push(number);
    }
  return new Map([...numbers].map(([writer, own]) => [writer, toRanges(own.sort((a, b) => a - b))]));
}

function toRanges(numbers: readonly number[]): Range[] {
  const ranges: Range[] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && number <= last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

/** Longest gap whose numbers are requested one by one: a store may list as many late, or a fault may have lost them. */
const LONG_GAP = 1000;

export function isLong({ from, to }: Gap): boolean {
  return to - from >= LONG_GAP;
}

export function describeLost(lost: LostSegments): string {
  const { hour, writer, from, to, unreadable } = lost;
  if (unreadable) return unreadable.message;
  const numbers = from === to ? `number ${from}` : `numbers ${from} to ${to}`;
  const text = `${folderOfWriter(writer)}${hour} has lost ${numbers} of ${writer}`;
  if (!isLong(lost)) return text;
  return `${text}, or ${segmentKey({ hour, writer, number: to + 1 })} is foreign: delete it then`;
}
