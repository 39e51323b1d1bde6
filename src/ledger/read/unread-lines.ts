import { HOUR, startOfHour } from '../hours.js';
import type { TimeRange } from './time-ranges.js';

/** Lines that were skipped, by segment. */
interface SkippedLines {
  readonly count: number;
  /** The first 100 segments with such lines. */
  readonly segments: readonly { readonly key: string; readonly lines: number }[];
}

/** The part of the ledger that cannot be read, as far as reads have shown. */
export interface UnreadLines {
  /** Notes lines of a segment that cannot be parsed, or are of a newer version. */
  skip(key: string, lines: { readonly broken: number; readonly newer: number }): void;
  /** Notes that lines of an hour are missing in memory. */
  miss(text: string, key: string): void;
  broken(): SkippedLines;
  newer(): SkippedLines;
  /** Why lines of a range that are in memory, or should be, may be missing. */
  within(range: TimeRange): string[];
}

const MAX_NAMED = 100;

/** @param onNewerLines called with the first segment that holds lines of a newer version */
export function createUnreadLines(onNewerLines?: (key: string) => void): UnreadLines {
  const broken = createSkippedLines();
  const newer = createSkippedLines();
  const missing = new Map<string, number>();
  return {
    skip(key, lines) {
      broken.note(key, lines.broken);
      if (lines.newer > 0 && newer.read().count === 0) onNewerLines?.(key);
      newer.note(key, lines.newer);
    },
    miss(text, key) {
      if (missing.size < MAX_NAMED) missing.set(text, startOfHour(key));
    },
    broken: broken.read,
    newer: newer.read,
    within({ since, until }) {
      const overlaps = (hour: number) => hour <= until && hour + HOUR > since;
      return [
        ...[...missing].flatMap(([text, hour]) => (overlaps(hour) ? [text] : [])),
        ...broken
          .read()
          .segments.filter(({ key }) => overlaps(startOfHour(key)))
          .map(({ key, lines }) => `lines of ${key} that cannot be read (${lines})`),
      ];
    },
  };
}

function createSkippedLines() {
  const segments = new Map<string, number>();
  let count = 0;
  return {
    note(key: string, lines: number): void {
      if (lines === 0 || segments.has(key)) return;
      count += lines;
      if (segments.size < MAX_NAMED) segments.set(key, lines);
    },
    read: (): SkippedLines => ({
      count,
      segments: [...segments].map(([key, lines]) => ({ key, lines })),
    }),
  };
}
