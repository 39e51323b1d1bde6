import { fetchSegment } from '../../ledger/ledger-reader.js';
import { readAhead } from '../../ledger/read-ahead.js';
import { writtenAt } from '../../ledger/segment-name.js';
import { cooperativeYield } from '../../time/cooperative-yield.js';
import { partitionOf, startOf } from './hour-folders.js';
import type { HourSending } from './send-closed-hour.js';

export interface SegmentReaderOptions extends Pick<HourSending, 'store' | 'sendLines' | 'whenSettled'> {
  /** Milliseconds since the epoch: when the subscription began. */
  readonly since: number;
  /** Called with the time of each segment before its events are sent, in milliseconds since the epoch. */
  readonly onPosition: (time: number) => void;
}

/** A segment that was written so long before the subscription began holds no line that ended after it. */
export const CLOCK_TOLERANCE = 15 * 60_000;
const READ_AHEAD = 8;
/** Names of an hour beyond which nothing is read before all events are settled. */
const MAX_NAMES = 1000;

/** Reads segments of followed hours by name, and sends their events. */
export function createSegmentReader({
  store,
  since,
  sendLines,
  whenSettled,
  onPosition,
}: SegmentReaderOptions): HourSending['readSegments'] {
  const pause = cooperativeYield();

  return async ({ hour, record, reading, postponed }, names) => {
    const missing: string[] = [];
    const wanted = names.filter((name) => {
      const written = writtenAt(name);
      if (written === null || written >= since - CLOCK_TOLERANCE) return true;
      record.add(name);
      return false;
    });
    const partition = partitionOf(hour);
    const fetched = readAhead(wanted, READ_AHEAD, async (name) => ({
      name,
      segment: await fetchSegment(store, `${partition}${name}.ndjson`),
    }));
    for await (const { name, segment } of fetched) {
      onPosition(writtenAt(name) ?? startOf(hour));
      if (segment === null) {
        missing.push(name);
        continue;
      }
      const { entries, newerLines } = segment.parse();
      if (newerLines.length > 0) postponed.add(name);
      else reading.add(name);
      const lines = entries.map(({ line }) => line);
      await sendLines(hour, name, lines, () => {
        if (reading.delete(name)) record.add(name);
      });
      // One request that hangs keeps the names after it from being counted: their number has to stay bounded.
      if (record.names() > MAX_NAMES) {
        await whenSettled();
        record.compress(MAX_NAMES / 2);
      }
      await pause();
    }
    return missing;
  };
}
