import type { NewSegment } from '../../ledger/log/new-segments.js';
import { entryOf, type LogEntry } from '../../ledger/read/log/log-entry.js';
import { cooperativeYield } from '../../time/cooperative-yield.js';
import { type LogPlace, numbersOf } from './log-place.js';

/**
 * The lines of segments, each brought again unless the next ones are asked for. Those of a newer version, and what their writer wrote
 * behind them, are left to a newer replica: resolves to whether there were none.
 */
export async function* linesByNumber(
  place: LogPlace,
  segments: AsyncIterable<NewSegment>,
): AsyncGenerator<LogEntry[], boolean> {
  const pause = cooperativeYield();
  const left = new Set<string>();
  for await (const { place: of, writer, number, segment } of segments) {
    const { entries, newerLines, writtenAt } = segment.parse();
    if (newerLines.length > 0) left.add(of.hour + writer);
    if (left.has(of.hour + writer)) continue;
    yield entries.map(({ line }) => entryOf(line, writtenAt));
    numbersOf(place, of.hour).read.set(writer, number);
    await pause();
  }
  return left.size === 0;
}
