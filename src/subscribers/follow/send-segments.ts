import type { LedgerLine } from '../../domain/delivery.js';
import { segmentsAfter } from '../../ledger/list-segments.js';
import { readAhead } from '../../ledger/read-ahead.js';
import { fetchSegment, type UnparsedSegment } from '../../ledger/read-segment.js';
import { describeGap } from '../../ledger/rollup/covered-numbers.js';
import { type SegmentPlace, segmentKey } from '../../ledger/segment-key.js';
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

type Numbered = Pick<SegmentPlace, 'writer' | 'number'>;

const AT_ONCE = 8;

const pause = cooperativeYield();

/**
 * Sends the events of a segment, and moves the position behind it. False for one with lines of a newer version, which stays for a newer
 * replica, and all of its writer with it.
 */
async function sendSegment(
  { sendLines, onPosition }: HourSending,
  position: HourPosition,
  { writer, number }: Numbered,
  segment: UnparsedSegment,
): Promise<boolean> {
  const { entries, newerLines, writtenAt } = segment.parse();
  if (newerLines.length > 0) return false;
  onPosition(writtenAt);
  const settled = position.advance(writer, number);
  const lines = entries.map(({ line }) => line);
  await sendLines(position.hour, `${writer}~${number}`, lines, settled);
  await pause();
  return true;
}

/** Sends the segments of a writer behind the position, until the next one is not there. Resolves to their number. */
export async function sendNext(
  sending: HourSending,
  position: HourPosition,
  writer: string,
): Promise<number> {
  const { hour } = position;
  const first = (position.read.get(writer) ?? 0) + 1;
  let sent = 0;
  for (let atOnce = 1; ; atOnce = Math.min(AT_ONCE, atOnce * 2)) {
    const numbers = Array.from({ length: atOnce }, (_, index) => first + sent + index);
    const fetched = readAhead(numbers, AT_ONCE, async (number) => ({
      number,
      segment: await fetchSegment(sending.store, segmentKey({ hour, writer, number })),
    }));
    for await (const { number, segment } of fetched) {
      if (segment === null) return sent;
      if (!(await sendSegment(sending, position, { writer, number }, segment))) return sent;
      sent += 1;
    }
  }
}

/** What a listing found behind a position. */
export interface ListedNumbers {
  readonly sent: readonly Numbered[];
  /** Segments with lines of a newer version, and those of their writer behind them. */
  readonly left: readonly Numbered[];
}

/**
 * Sends all segments behind the position, those of new writers among them.
 *
 * @param isCompacted whether a file has the lines of a segment that is not listed; all others are asked for
 */
export async function sendListed(
  sending: HourSending,
  position: HourPosition,
  isCompacted: (segment: Numbered) => boolean = () => false,
): Promise<ListedNumbers> {
  const { store, onFault } = sending;
  const { hour } = position;
  const sent: Numbered[] = [];
  const left: Numbered[] = [];
  const stopped = new Set<string>();
  const behind = numbersBehind(store, position, isCompacted);
  const fetched = readAhead(behind, AT_ONCE, async (place) => ({
    place,
    segment: await fetchSegment(store, segmentKey({ hour, ...place })),
  }));
  for await (const { place, segment } of fetched) {
    if (segment === null) {
      // A number is written only after the one before it: what is not there although a later one is listed is lost.
      if (!place.isListed)
        onFault(
          hour,
          new Error(describeGap(hour, { writer: place.writer, from: place.number, to: place.number })),
        );
      continue;
    }
    if (!stopped.has(place.writer) && (await sendSegment(sending, position, place, segment)))
      sent.push(place);
    else {
      stopped.add(place.writer);
      left.push(place);
    }
  }
  return { sent, left };
}

/** The listed numbers, and those in between: a store may list a segment late. */
async function* numbersBehind(
  store: ObjectStore,
  { hour, read }: HourPosition,
  isCompacted: (segment: Numbered) => boolean,
): AsyncGenerator<Numbered & { readonly isListed: boolean }> {
  const last = new Map(read);
  for await (const { writer, number } of segmentsAfter(store, hour, new Map(read))) {
    for (let between = (last.get(writer) ?? 0) + 1; between < number; between += 1) {
      if (!isCompacted({ writer, number: between })) yield { writer, number: between, isListed: false };
    }
    last.set(writer, number);
    yield { writer, number, isListed: true };
  }
}
