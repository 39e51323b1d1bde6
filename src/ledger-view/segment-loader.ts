import { fetchSegment, type UnparsedSegment } from '../ledger/ledger-reader.js';
import type { LedgerEntry } from '../ledger/parse-segment.js';
import { readAhead } from '../ledger/read-ahead.js';
import type { ObjectStore } from '../store/object-store.js';
import { cooperativeYield } from '../time/cooperative-yield.js';
import { createRowPacker, type LedgerRow } from './ledger-row.js';

/** Lines that were skipped, by segment. */
export interface SkippedLines {
  readonly count: number;
  /** The first 100 segments with such lines. */
  readonly segments: readonly { readonly key: string; readonly lines: number }[];
}

export interface SegmentLoader {
  /** Reads segments, several at once, and yields their rows, segment by segment in the given order. */
  read(keys: Iterable<string>): AsyncGenerator<{ key: string; rows: LedgerRow[] }>;
  /** The same with the lines themselves. A segment that is missing has none. */
  readLines(
    keys: Iterable<string>,
    concurrency?: number,
  ): AsyncGenerator<{ key: string; entries: readonly LedgerEntry[] }>;
  /** Lines that cannot be parsed. */
  broken(): SkippedLines;
  /** Lines of a newer version. */
  newer(): SkippedLines;
}

const MAX_SEGMENTS = 100;

export interface SegmentLoaderOptions {
  /** Segments read at once. */
  readonly concurrency: number;
  /** Called with the first segment that holds lines of a newer version. */
  readonly onNewerLines?: ((key: string) => void) | undefined;
}

export function createSegmentLoader(store: ObjectStore, options: SegmentLoaderOptions): SegmentLoader {
  const { concurrency, onNewerLines } = options;
  const packRows = createRowPacker();
  const broken = createSkippedLines();
  const newer = createSkippedLines();

  function parse(key: string, segment: UnparsedSegment | null): readonly LedgerEntry[] {
    if (segment === null) return [];
    const { entries, brokenLines, newerLines } = segment.parse();
    broken.note(key, brokenLines.length);
    if (newerLines.length > 0 && newer.read().count === 0) onNewerLines?.(key);
    newer.note(key, newerLines.length);
    return entries;
  }

  async function* readLines(keys: Iterable<string>, atOnce = concurrency) {
    const fetched = readAhead(keys, atOnce, async (key) => ({
      key,
      segment: await fetchSegment(store, key),
    }));
    const pause = cooperativeYield();
    for await (const { key, segment } of fetched) {
      yield { key, entries: parse(key, segment) };
      await pause();
    }
  }

  return {
    async *read(keys) {
      for await (const { key, entries } of readLines(keys)) {
        const rows = packRows(entries);
        // A fast store would otherwise bring lines faster than they are compressed.
        await Promise.all([...new Set(rows.map(({ block }) => block))].map(({ packed }) => packed));
        yield { key, rows };
      }
    },
    readLines,
    broken: broken.read,
    newer: newer.read,
  };
}

function createSkippedLines() {
  const segments = new Map<string, number>();
  let count = 0;
  return {
    note(key: string, lines: number): void {
      if (lines === 0 || segments.has(key)) return;
      count += lines;
      if (segments.size < MAX_SEGMENTS) segments.set(key, lines);
    },
    read: (): SkippedLines => ({
      count,
      segments: [...segments].map(([key, lines]) => ({ key, lines })),
    }),
  };
}
