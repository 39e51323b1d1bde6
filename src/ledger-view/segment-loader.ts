import { setImmediate as immediate } from 'node:timers/promises';
import { readSegment } from '../archive/ledger/ledger-reader.js';
import { readAhead } from '../archive/ledger/read-ahead.js';
import type { ObjectStore } from '../store/object-store.js';
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
  /** Lines that cannot be parsed. */
  broken(): SkippedLines;
  /** Lines of a newer version. */
  newer(): SkippedLines;
}

const MAX_SEGMENTS = 100;
/** Milliseconds of parsing per turn of the event loop, so that callbacks are not delayed. */
const SLICE = 5;

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

  async function readOne(key: string) {
    const parsed = await readSegment(store, key);
    if (parsed) {
      broken.note(key, parsed.brokenLines.length);
      if (parsed.newerLines.length > 0 && newer.read().count === 0) onNewerLines?.(key);
      newer.note(key, parsed.newerLines.length);
    }
    return { key, parsed };
  }

  return {
    async *read(keys) {
      let sliceEnd = performance.now() + SLICE;
      for await (const { key, parsed } of readAhead(keys, concurrency, readOne)) {
        yield { key, rows: parsed ? packRows(parsed) : [] };
        if (performance.now() < sliceEnd) continue;
        await immediate();
        sliceEnd = performance.now() + SLICE;
      }
    },
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
