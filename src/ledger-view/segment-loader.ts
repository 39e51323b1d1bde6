import { setImmediate as immediate } from 'node:timers/promises';
import { readSegment } from '../archive/ledger/ledger-reader.js';
import { readAhead } from '../archive/ledger/read-ahead.js';
import type { ObjectStore } from '../store/object-store.js';
import { createRowPacker, type LedgerRow } from './ledger-row.js';

/** Lines that could not be parsed, by segment. */
export interface BrokenLines {
  readonly count: number;
  /** The first 100 segments with such lines. */
  readonly segments: readonly { readonly key: string; readonly lines: number }[];
}

export interface SegmentLoader {
  /** Reads segments, several at once, and yields their rows, segment by segment in the given order. */
  read(keys: Iterable<string>): AsyncGenerator<{ key: string; rows: LedgerRow[] }>;
  broken(): BrokenLines;
}

const MAX_BROKEN_SEGMENTS = 100;
/** Milliseconds of parsing per turn of the event loop, so that callbacks are not delayed. */
const SLICE = 5;

export function createSegmentLoader(store: ObjectStore, concurrency: number): SegmentLoader {
  const packRows = createRowPacker();
  const brokenSegments = new Map<string, number>();
  let brokenCount = 0;

  function noteBroken(key: string, lines: number): void {
    if (lines === 0 || brokenSegments.has(key)) return;
    brokenCount += lines;
    if (brokenSegments.size < MAX_BROKEN_SEGMENTS) brokenSegments.set(key, lines);
  }

  async function readOne(key: string) {
    const parsed = await readSegment(store, key);
    if (parsed) noteBroken(key, parsed.brokenLines.length);
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
    broken: () => ({
      count: brokenCount,
      segments: [...brokenSegments].map(([key, lines]) => ({ key, lines })),
    }),
  };
}
