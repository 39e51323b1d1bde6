import { listSegments } from '../list-segments.js';
import { readAhead } from '../read-ahead.js';
import { fetchSegment } from '../read-segment.js';
import { segmentsIn } from '../rollup/covered-numbers.js';
import type { CoveredNumbers } from '../rollup/rollup.js';
import { type SegmentPlace, segmentKey } from '../segment-key.js';
import type { LineScan, ScannedLine } from './line-scan.js';

/** Segments that are read at once: a store of objects takes some 30 ms for each. */
const AT_ONCE = 32;

/** The lines of all segments of an hour, by writer and number. Names numbers that are missing although a later one exists. */
export function scanHour(scan: LineScan, hour: string): AsyncGenerator<ScannedLine> {
  return read(scan, listed(scan, hour), ({ key }) => scan.onFault(`${key}, which is missing`, key));
}

/** The lines of segments that a damaged file covers. Some may have been deleted. */
export function scanCovered(
  scan: LineScan,
  hour: string,
  numbers: CoveredNumbers,
): AsyncGenerator<ScannedLine> {
  return read(scan, covered(hour, numbers), () => undefined);
}

type Keyed = SegmentPlace & { readonly key: string };

async function* listed({ store, since, until, onFault }: LineScan, hour: string): AsyncGenerator<Keyed> {
  const last = new Map<string, number>();
  for await (const segment of listSegments(store, hour)) {
    const { writer, number, writtenAt } = segment;
    const next = (last.get(writer) ?? 0) + 1;
    last.set(writer, number);
    if (number > next) {
      const key = segmentKey({ hour, writer, number: next });
      onFault(`${key}${number > next + 1 ? ` and ${number - next - 1} more` : ''}, which is missing`, key);
    }
    if (writtenAt >= since && writtenAt < until) yield segment;
  }
}

function* covered(hour: string, numbers: CoveredNumbers): Generator<Keyed> {
  for (const each of segmentsIn(numbers)) yield { ...each, hour, key: segmentKey({ ...each, hour }) };
}

async function* read(
  { store, since, until, onSkipped }: LineScan,
  segments: AsyncIterable<Keyed> | Iterable<Keyed>,
  onMissing: (segment: Keyed) => void,
): AsyncGenerator<ScannedLine> {
  const reads = readAhead(segments, AT_ONCE, async (segment) => ({
    segment,
    unparsed: await fetchSegment(store, segment.key),
  }));
  for await (const { segment, unparsed } of reads) {
    if (unparsed === null) {
      onMissing(segment);
      continue;
    }
    const { entries, brokenLines, newerLines, writtenAt: written } = unparsed.parse();
    if (written < since || written >= until) continue;
    const [broken, newer] = [brokenLines.length, newerLines.length];
    if (broken + newer > 0) onSkipped(segment.key, { broken, newer });
    const { writer, number } = segment;
    for (const { line, index } of entries) yield { place: { written, writer, number, line: index }, line };
  }
}
