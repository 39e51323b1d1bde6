import type { LedgerLine } from '../../domain/delivery.js';
import type { ObjectStore } from '../../store/object-store.js';
import { parseSegment } from '../parse-segment.js';
import { segmentKey } from '../segment-key.js';
import { describeLost, type LostSegments } from './covered-numbers.js';
import { hourPosition } from './hour-position.js';
import type { LinePlace } from './line-place.js';
import { segmentsOfHour } from './segments-of-hour.js';

export interface LineScan {
  readonly store: ObjectStore;
  /** Only lines written from `since` until before `until`, in milliseconds since the epoch. */
  readonly since: number;
  readonly until: number;
  /**
   * Called for each damaged or missing object or folder, whose lines may be lost. The scan continues.
   *
   * @param key the object, or the folder of its hour
   */
  readonly onFault: (text: string, key: string) => void;
  /** Called with the number of lines of a segment that cannot be read. */
  readonly onUnreadable: (key: string, lines: number) => void;
}

/** A line of the log. */
export interface ScannedLine {
  readonly place: LinePlace;
  readonly line: LedgerLine;
}

/** Segments read concurrently: an object store takes some 30 ms for each. */
const AT_ONCE = 32;

/** The lines of an hour that were written in the range, ordered by writer and number. Reports damaged, missing and lost segments. */
export async function* scanHour(
  scan: LineScan,
  hour: string,
  onPrevious: (hour: string) => void = () => {},
): AsyncGenerator<ScannedLine> {
  const { store, since, until, onFault, onUnreadable } = scan;
  const reading = {
    store,
    onPrevious,
    concurrency: AT_ONCE,
    onLost: (lost: LostSegments) => onFault(describeLost(lost), segmentKey({ ...lost, number: lost.from })),
    onFault: ({ message, key }: { readonly message: string; readonly key: string }) => onFault(message, key),
  };
  for await (const { writer, number, segment } of segmentsOfHour(reading, hourPosition(hour))) {
    const { writtenAt: written } = segment;
    if (written < since || written >= until) continue;
    const { entries, unreadable } = parseSegment(segment.content);
    if (unreadable > 0) onUnreadable(segmentKey({ hour, writer, number }), unreadable);
    for (const { line, index } of entries) yield { place: { written, writer, number, line: index }, line };
  }
}
