import type { LedgerLine } from '../../domain/delivery.js';
import { markRead } from '../../ledger/log/hour-position.js';
import type { NewSegment } from '../../ledger/log/new-segments.js';
import { parseSegment } from '../../ledger/parse-segment.js';
import type { SegmentPlace } from '../../ledger/segment-key.js';
import { cooperativeYield } from '../../lib/time/cooperative-yield.js';

export interface SegmentLines {
  readonly segment: SegmentPlace;
  readonly lines: readonly LedgerLine[];
}

/** The lines of segments. A segment counts as read once the next one is requested. Unreadable lines are skipped. */
export async function* linesByNumber(segments: AsyncIterable<NewSegment>): AsyncGenerator<SegmentLines> {
  const pause = cooperativeYield();
  for await (const { position, writer, number, segment } of segments) {
    const { hour } = position;
    const lines = parseSegment(segment.content).entries.map(({ line }) => line);
    if (lines.length > 0) yield { segment: { hour, writer, number }, lines };
    markRead(position, { writer, number });
    await pause();
  }
}
