import { startOfHour } from '../../ledger/hours.js';
import type { LostSegments } from '../../ledger/log/covered-numbers.js';
import { markRead } from '../../ledger/log/hour-position.js';
import type { NewSegment } from '../../ledger/log/new-segments.js';
import type { SegmentContent } from '../apply/segment-content.js';
import type { IndexCalls } from '../index-calls.js';
import type { MergedFault } from '../ledger-index.js';

export type SegmentLoader = ReturnType<typeof createSegmentLoader>;

/** Segments and bytes of one call of the index. */
const BATCH = 256;
const BATCH_BYTES = 4 * 1024 * 1024;

/** Loads segments into the index, in batches. */
export function createSegmentLoader(index: IndexCalls) {
  let batch: SegmentContent[] = [];
  let bytes = 0;
  let missing: SegmentContent[] = [];
  let faults: MergedFault[] = [];

  async function flush(): Promise<void> {
    const given = batch;
    batch = [];
    bytes = 0;
    if (given.length > 0) await index.call('apply', given);
  }

  return {
    /**
     * Resolves to the keys of the faults that `addFault` got meanwhile. Rejects with `StoreError` and `IndexError`.
     *
     * @param onFirst called before the first segment
     */
    async load(segments: AsyncIterable<NewSegment>, onFirst?: () => Promise<void>): Promise<string[]> {
      batch = [];
      bytes = 0;
      missing = [];
      faults = [];
      let isFirst = true;
      try {
        for await (const { position, writer, number, segment } of segments) {
          if (isFirst) await onFirst?.();
          isFirst = false;
          const { content, writtenAt: written } = segment;
          batch.push({ hour: startOfHour(position.hour), writer, number, written, content });
          bytes += content.length;
          markRead(position, { writer, number });
          if (batch.length >= BATCH || bytes >= BATCH_BYTES) await flush();
        }
      } finally {
        // Also when the listing fails: the index keeps what was read so far.
        await flush();
      }
      // Missing segments are applied last, so that the position never exceeds a segment that is still to come.
      if (missing.length > 0) await index.call('apply', missing);
      if (faults.length > 0) await index.call('saveFaults', faults);
      return faults.map(({ key }) => key);
    },
    /** Adds segments that turn out to be missing during `load`. */
    addMissing({ hour, writer, to }: LostSegments): void {
      missing.push({ hour: startOfHour(hour), writer, number: to, written: 0, content: null });
    },
    /** Adds an object or a folder of an hour that cannot be read. @param segments as in `MergedFault` */
    addFault(hour: string, key: string, segments = 1): void {
      faults.push({ key, hour: startOfHour(hour), segments });
    },
  };
}
