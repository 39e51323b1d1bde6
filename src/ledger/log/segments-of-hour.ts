import type { ObjectStore } from '../../store/object-store.js';
import { LEDGER_FOLDER } from '../ledger-keys.js';
import { listSegments } from '../list-segments.js';
import type { UnparsedSegment } from '../read-segment.js';
import { UnreadableError } from '../retrying-reads.js';
import { folderOfWriter } from '../segment-key.js';
import { type CoveredSegments, coveredNumbers, type LostSegments, type Numbered } from './covered-numbers.js';
import { type HourPosition, isTaken, isWithin } from './hour-position.js';
import type { MergedSegment, MergeRecord } from './merge-record.js';
import { MergedHourError, openFaults, readMergedHour } from './merge-record.js';
import { readMergedSegments } from './merged-segments.js';
import { fetchAhead, type NewSegment, numbersOfGap, takeAhead } from './new-segments.js';

export interface HourReading {
  readonly store: ObjectStore;
  /** Called with numbers that are in neither segment nor record, although a later one is. */
  readonly onLost: (lost: LostSegments) => void;
  /**
   * Called with what is damaged, missing or another's of the merged hour, unless other records have all of its segments, and with a folder
   * that cannot be listed although the store answers. What is beside it is read.
   */
  readonly onFault: (fault: MergedHourError) => void;
  /** Called with the last hour before this one that has lines, where a record names it. */
  readonly onPrevious?: (hour: string, folder: string) => void;
  /** Folders of segments. Default: the ledger's alone. */
  readonly folders?: readonly string[];
  /** Segments that are read at once. Default 16. */
  readonly concurrency?: number;
}

const CONCURRENCY = 16;

type Found = Numbered & { readonly segment: UnparsedSegment };

/**
 * All segments of a whole hour that were not taken before, from its merged objects and from the segments that none has: each once, with the
 * same content. The numbers of a writer ascend, but for one that was lost and came back. Throws `StoreError`.
 */
export async function* segmentsOfHour(reading: HourReading, place: HourPosition): AsyncGenerator<NewSegment> {
  for (const folder of reading.folders ?? [LEDGER_FOLDER])
    try {
      yield* segmentsIn(folder, reading, place);
    } catch (error) {
      reading.onFault(unlistedFault(error));
    }
}

/** Segments of a folder behind a position in an hour that is not whole, those of new writers as well. Throws `StoreError`. */
export function newSegmentsOf(
  store: ObjectStore,
  place: HourPosition,
  folder: string,
  onLost: HourReading['onLost'],
): AsyncGenerator<NewSegment> {
  const before = { ...place, read: new Map(place.read), missing: [] };
  const numbers = othersOf(folder, { store, onLost }, before, [], coveredNumbers([]));
  return takeAhead(store, place, numbers, onLost);
}

/** Throws every other error. */
function unlistedFault(error: unknown): MergedHourError {
  if (!(error instanceof UnreadableError)) throw error;
  return new MergedHourError(error.key, error.message);
}

async function* segmentsIn(
  folder: string,
  reading: HourReading,
  place: HourPosition,
): AsyncGenerator<NewSegment> {
  const { store, onFault, onLost, concurrency = CONCURRENCY } = reading;
  const { hour } = place;
  const before = { ...place, read: new Map(place.read) };
  const { records, faults } = await readMergedHour(store, hour, folder).catch((error: unknown) => ({
    records: [],
    faults: [unlistedFault(error)],
  }));
  for (const fault of openFaults({ records, faults })) onFault(fault);
  for (const { previous } of records) if (previous !== null) reading.onPrevious?.(previous, folder);
  const taken: { readonly segments: Numbered[] }[] = [];
  for (const record of records) {
    const isTakenNow = coveredNumbers(taken).has;
    const wanted = record.segments.filter((each) => !isTaken(before, each) && !isTakenNow(each));
    const own: Numbered[] = [];
    taken.push({ segments: own });
    for await (const { writer, number, segment } of wantedOf(reading, record, wanted)) {
      own.push({ writer, number });
      yield { place, writer, number, segment };
    }
  }
  // What an object had that is missing has to be in segments.
  const covering = [...records, ...faults.flatMap(({ record }) => record ?? [])];
  const others = othersOf(folder, reading, before, covering, coveredNumbers(taken));
  yield* takeAhead(store, place, others, onLost, concurrency);
}

/** Segments of a record; those are left out that are neither in its object nor there. */
async function* wantedOf(
  { store, onFault, concurrency = CONCURRENCY }: HourReading,
  record: MergeRecord,
  wanted: readonly MergedSegment[],
): AsyncGenerator<Found> {
  const first = wanted[0];
  const last = wanted.at(-1);
  if (first === undefined || last === undefined) return;
  const { segments } = record;
  let count = 0;
  try {
    const some = readMergedSegments(store, record, segments.indexOf(first), segments.indexOf(last) + 1);
    for await (const { segment, content } of some) {
      if (segment !== wanted[count]) continue;
      count += 1;
      const { writer, number, writtenAt } = segment;
      yield { writer, number, segment: { content, writtenAt } };
    }
  } catch (error) {
    if (!(error instanceof MergedHourError)) throw error;
    onFault(error);
    for await (const { segment, ...place } of fetchAhead(store, record, wanted.slice(count), concurrency))
      if (segment !== null) yield { ...place, segment };
  }
}

/**
 * The numbers behind a position that a segment or a record has or that have to be there, and those that are there although they were
 * missing, without those that were taken since.
 */
async function* othersOf(
  folder: string,
  { store, onLost }: Pick<HourReading, 'store' | 'onLost'>,
  { hour, read, missing }: HourPosition,
  records: readonly MergeRecord[],
  taken: CoveredSegments,
): AsyncGenerator<Numbered> {
  const covered = coveredNumbers(records);
  const last = new Map(read);
  async function* upTo(writer: string, end: number): AsyncGenerator<Numbered> {
    const from = (last.get(writer) ?? 0) + 1;
    for (const gap of taken.missingIn({ writer, from, to: end }))
      yield* numbersOfGap({ hour, ...gap }, onLost);
    last.set(writer, Math.max(end, from - 1));
  }
  // Merged segments may still be there, and are not listed one by one.
  const position = new Map(read);
  for (const writer of covered.last.keys()) {
    const end = covered.endBehind({ writer, number: read.get(writer) ?? 0 });
    position.set(writer, end);
  }
  const open = missing.filter(({ writer }) => folderOfWriter(writer) === folder).flatMap(taken.missingIn);
  for (const { writer, from } of open)
    position.set(writer, Math.min(from - 1, position.get(writer) ?? from - 1));
  for await (const { writer, number } of listSegments(store, hour, folder, position)) {
    const isMissing = open.some((gap) => isWithin(gap, { writer, number }));
    if (isMissing) yield { writer, number };
    yield* upTo(writer, number - 1);
    yield* upTo(writer, number);
  }
  for (const [writer, end] of covered.last) yield* upTo(writer, end);
}
