import type { LedgerLine } from '../../domain/delivery.js';
import type { NewSegment } from '../../ledger/read/log/follow-log.js';
import type { SegmentPlace } from '../../ledger/segment-key.js';
import type { ObjectStore } from '../../store/object-store.js';
import { cooperativeYield } from '../../time/cooperative-yield.js';
import type { HourPosition } from './hour-position.js';

/** What hours are sent with. */
export interface HourSending {
  readonly store: ObjectStore;
  /** Sends the events of some lines. `onSettled` is called once all are settled. */
  readonly sendLines: (
    hour: string,
    part: string,
    lines: readonly LedgerLine[],
    onSettled: () => void,
  ) => Promise<void>;
  /** Resolves when all events are settled that were read so far. */
  readonly whenSettled: () => Promise<void>;
  /** Called with what keeps lines from being sent; all others are. */
  readonly onFault: (hour: string, error: Error) => void;
  /** Called with the time of what is read next, in milliseconds since the epoch. */
  readonly onPosition: (time: number) => void;
}

export interface SentSegments {
  readonly sent: readonly SegmentPlace[];
  /** Segments with lines of a newer version, and those of their writer behind them: they stay for a newer replica. */
  readonly left: readonly SegmentPlace[];
}

const pause = cooperativeYield();

/** Sends the events of segments, and moves the positions behind them. */
export async function sendSegments(
  { sendLines, onPosition }: HourSending,
  segments: AsyncIterable<NewSegment<HourPosition>>,
): Promise<SentSegments> {
  const sent: SegmentPlace[] = [];
  const left: SegmentPlace[] = [];
  for await (const { place, writer, number, segment } of segments) {
    const { hour } = place;
    const { entries, newerLines, writtenAt } = segment.parse();
    if (newerLines.length > 0 || left.some((other) => other.writer === writer && other.hour === hour)) {
      left.push({ hour, writer, number });
      continue;
    }
    onPosition(writtenAt);
    const settled = place.advance(writer, number);
    const lines = entries.map(({ line }) => line);
    try {
      await sendLines(hour, `${writer}~${number}`, lines, settled);
    } catch (error) {
      place.goBack(writer, number);
      throw error;
    }
    sent.push({ hour, writer, number });
    await pause();
  }
  return { sent, left };
}
