import { segmentKey } from '../segment-key.js';
import { describeLost, type LostSegments } from './covered-numbers.js';
import type { LineScan, ScannedLine } from './line-scan.js';
import { segmentsOfHour } from './segments-of-hour.js';

/** Segments that are read at once: a store of objects takes some 30 ms for each. */
const AT_ONCE = 32;

/** The lines of an hour that were written in the range, by writer and number. Names what is damaged, missing or lost. */
export async function* scanHour(
  scan: LineScan,
  hour: string,
  onPrevious: (hour: string) => void = () => {},
): AsyncGenerator<ScannedLine> {
  const { store, since, until, onFault, onSkipped } = scan;
  const reading = {
    ...{ store, onPrevious, range: { since, until }, concurrency: AT_ONCE },
    onLost: (lost: LostSegments) => onFault(describeLost(lost), segmentKey({ ...lost, number: lost.from })),
    onFault: ({ message, key }: { readonly message: string; readonly key: string }) => onFault(message, key),
  };
  for await (const { writer, number, segment } of segmentsOfHour(reading, { hour, read: new Map() })) {
    const { writtenAt: written } = segment;
    if (written < since || written >= until) continue;
    const { entries, brokenLines, newerLines } = segment.parse();
    const [broken, newer] = [brokenLines.length, newerLines.length];
    if (broken + newer > 0) onSkipped(segmentKey({ hour, writer, number }), { broken, newer });
    for (const { line, index } of entries) yield { place: { written, writer, number, line: index }, line };
  }
}
