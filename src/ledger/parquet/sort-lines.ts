import { cooperativeYield, type Pause } from '../../time/cooperative-yield.js';

/** A line of a segment, with the fields that make its position in the order of the ledger. */
export interface SortableLine {
  /** The store's time of its segment, in milliseconds since the epoch. */
  readonly writtenAt: number;
  readonly deliveryId: string;
  readonly outcome: string;
  /** As stored, without the line's end. */
  readonly text: string;
}

/** Lines sorted at once: some 5 ms of work. */
const RUN = 4096;

/**
 * The lines by the time they were written, then by delivery id, then by outcome; of equal lines one. Lines of one position that differ
 * elsewhere are all kept, in the order of their texts.
 */
export async function sortLines(
  lines: readonly SortableLine[],
  pause: Pause = cooperativeYield(),
): Promise<SortableLine[]> {
  const runs: SortableLine[][] = [];
  for (let start = 0; start < lines.length; start += RUN) {
    runs.push(lines.slice(start, start + RUN).sort(compareLines));
    await pause();
  }
  while (runs.length > 1) {
    const [first = [], second = []] = runs.splice(0, 2);
    runs.push(mergeRuns(first, second));
    await pause();
  }
  const sorted = runs[0] ?? [];
  return sorted.filter((line, index) => {
    const previous = sorted[index - 1];
    return previous === undefined || compareLines(previous, line) !== 0;
  });
}

function mergeRuns(first: readonly SortableLine[], second: readonly SortableLine[]): SortableLine[] {
  const merged: SortableLine[] = [];
  let index = 0;
  for (const line of first) {
    for (let other = second[index]; other && compareLines(other, line) < 0; other = second[index]) {
      merged.push(other);
      index += 1;
    }
    merged.push(line);
  }
  return merged.concat(second.slice(index));
}

function compareLines(a: SortableLine, b: SortableLine): number {
  return comparePositions(a, b) || compare(a.text, b.text);
}

type LinePosition = Pick<SortableLine, 'writtenAt' | 'deliveryId' | 'outcome'>;

/** The order of the ledger. */
function comparePositions(a: LinePosition, b: LinePosition): number {
  return a.writtenAt - b.writtenAt || compare(a.deliveryId, b.deliveryId) || compare(a.outcome, b.outcome);
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
