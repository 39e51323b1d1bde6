import { startOfHour } from '../../ledger/hours.js';
import type { LostSegments } from '../../ledger/log/covered-numbers.js';
import { take } from '../../ledger/log/hour-position.js';
import type { NewSegment } from '../../ledger/log/new-segments.js';
import type { UnparsedSegment } from '../../ledger/read-segment.js';
import type { SegmentPlace } from '../../ledger/segment-key.js';
import type { SegmentContent } from '../apply/segment-content.js';
import type { IndexCalls } from '../index-calls.js';
import type { MergedFault } from '../ledger-index.js';

export type SegmentTaker = ReturnType<typeof createSegmentTaker>;

/** Segments and bytes that are given to the index at once. */
const BATCH = 256;
const BATCH_BYTES = 4 * 1024 * 1024;

/** Gives segments to the index, many at once. */
export function createSegmentTaker(index: IndexCalls) {
  let batch: SegmentContent[] = [];
  let bytes = 0;
  let missing: SegmentContent[] = [];
  let faults: MergedFault[] = [];

  async function give(): Promise<void> {
    const given = batch;
    batch = [];
    bytes = 0;
    if (given.length > 0) await index.call('apply', given);
  }

  return {
    /**
     * Resolves to the keys of the faults that were noted meanwhile. Rejects with `StoreError` and `IndexError`.
     *
     * @param onFirst called before the first of them
     */
    async take(segments: AsyncIterable<NewSegment>, onFirst?: () => Promise<void>): Promise<string[]> {
      batch = [];
      bytes = 0;
      missing = [];
      faults = [];
      let isFirst = true;
      try {
        for await (const { place, writer, number, segment } of segments) {
          if (isFirst) await onFirst?.();
          isFirst = false;
          const content = contentOf({ hour: place.hour, writer, number }, segment);
          batch.push(content);
          bytes += content.content.length;
          take(place, { writer, number });
          if (batch.length >= BATCH || bytes >= BATCH_BYTES) await give();
        }
      } finally {
        // Also before a listing that fails: what it has is in.
        await give();
      }
      // Missing segments are applied last, so that the position never passes a segment that is still to come.
      if (missing.length > 0) await index.call('apply', missing);
      if (faults.length > 0) await index.call('saveFaults', faults);
      return faults.map(({ key }) => key);
    },
    /** Notes segments that are missing while others are taken. */
    addMissing({ hour, writer, to }: LostSegments): void {
      missing.push({ hour: startOfHour(hour), writer, number: to, written: 0, content: null });
    },
    /** Notes an object or a folder of an hour that cannot be read. @param segments as in `MergedFault` */
    addFault(hour: string, key: string, segments = 1): void {
      faults.push({ key, hour: startOfHour(hour), segments });
    },
  };
}

function contentOf(
  { hour, writer, number }: SegmentPlace,
  { content, writtenAt: written }: UnparsedSegment,
): SegmentContent & { readonly content: Uint8Array } {
  return { hour: startOfHour(hour), writer, number, written, content };
}
