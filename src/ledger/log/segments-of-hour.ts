import type { ObjectStore } from '../../store/object-store.js';
import { LEDGER_FOLDER } from '../ledger-keys.js';
import { listSegments } from '../list-segments.js';
import type { UnparsedSegment } from '../read-segment.js';
import { UnreadableError } from '../retrying-reads.js';
import { folderOfWriter } from '../segment-key.js';
import { type CoveredSegments, coveredNumbers, type LostSegments, type Numbered } from './covered-numbers.js';
import { type HourPosition, isRead, isWithin } from './hour-position.js';
import { MergedHourError, type MergeRecord, readMergedHour, unresolvedFaults } from './merge-record.js';
import { readMergedSegments } from './merged-segments.js';
import { fetchNewSegments, type NewSegment, numbersOfGap } from './new-segments.js';

export interface HourReading {
  readonly store: ObjectStore;
  /** Called with numbers that have neither segment nor record, although a later number has. */
  readonly onLost: (lost: LostSegments) => void;
  /**
   * Called with each damaged, missing or foreign object of the merged hour whose segments no other record covers, and with a folder that
   * cannot be listed although the store answers. The rest is still read.
   */
  readonly onFault: (fault: MergedHourError) => void;
  /** Called with the previous hour that has lines, where a record names it. */
  readonly onPrevious?: (hour: string, folder: string) => void;
  /** Folders of segments. Default: only the ledger's. */
  readonly folders?: readonly string[];
  /** Segments read concurrently. Default 16. */
  readonly concurrency?: number;
}

const CONCURRENCY = 16;

type Found = Numbered & { readonly segment: UnparsedSegment };

/**
 * All segments of a whole hour that were not read before, from its merged objects or else from their own: each once, with the same
 * content. The numbers of a writer ascend, except for a lost segment that came back. Throws `StoreError`.
 */
export async function* segmentsOfHour(
  reading: HourReading,
  position: HourPosition,
): AsyncGenerator<NewSegment> {
  for (const folder of reading.folders ?? [LEDGER_FOLDER])
    try {
      yield* segmentsIn(folder, reading, position);
    } catch (error) {
      reading.onFault(unlistedFault(error));
    }
}

/** Segments of an open hour after a position, new writers included. Throws `StoreError`. */
export function newSegmentsOf(
  store: ObjectStore,
  position: HourPosition,
  folder: string,
  onLost: HourReading['onLost'],
): AsyncGenerator<NewSegment> {
  const before = { ...position, missing: [] };
  const numbers = remainingNumbers(folder, { store, onLost }, before, new Map(), coveredNumbers([]));
  return fetchNewSegments(store, position, numbers, onLost);
}

/** The fault of a folder that cannot be listed. Throws every other error. */
function unlistedFault(error: unknown): MergedHourError {
  if (!(error instanceof UnreadableError)) throw error;
  return new MergedHourError(error.key, error.message);
}

async function* segmentsIn(
  folder: string,
  reading: HourReading,
  position: HourPosition,
): AsyncGenerator<NewSegment> {
  const { store, onFault, onLost, concurrency = CONCURRENCY } = reading;
  const { hour } = position;
  const before = { ...position };
  const { records, faults } = await readMergedHour(store, hour, folder).catch((error: unknown) => ({
    records: [],
    faults: [unlistedFault(error)],
  }));
  for (const fault of unresolvedFaults({ records, faults })) onFault(fault);
  for (const { previous } of records) if (previous !== null) reading.onPrevious?.(previous, folder);
  const taken: Numbered[] = [];
  for (const record of records) {
    const isTaken = coveredNumbers([{ segments: taken }]).has;
    const isWanted = (each: Numbered) => !isRead(before, each) && !isTaken(each);
    for await (const { writer, number, segment } of segmentsOfRecord(store, record, isWanted, onFault)) {
      taken.push({ writer, number });
      yield { position, writer, number, segment };
    }
  }
  // What a damaged or missing object had must still exist as segments.
  const recorded = coveredNumbers([...records, ...faults.flatMap(({ record }) => record ?? [])]).last;
  const others = remainingNumbers(folder, reading, before, recorded, coveredNumbers([{ segments: taken }]));
  yield* fetchNewSegments(store, position, others, onLost, concurrency);
}

/** Wanted segments of a record from its object, which ends where the object is damaged. */
async function* segmentsOfRecord(
  store: ObjectStore,
  record: MergeRecord,
  isWanted: (segment: Numbered) => boolean,
  onFault: HourReading['onFault'],
): AsyncGenerator<Found> {
  const { segments } = record;
  const first = segments.findIndex(isWanted);
  if (first < 0) return;
  try {
    const some = readMergedSegments(store, record, first, segments.findLastIndex(isWanted) + 1);
    for await (const { segment, content } of some) {
      const { writer, number, writtenAt } = segment;
      if (isWanted(segment)) yield { writer, number, segment: { content, writtenAt } };
    }
  } catch (error) {
    if (!(error instanceof MergedHourError)) throw error;
    onFault(error);
  }
}

/**
 * Numbers that are still to be fetched: those after the position that a segment or record has, those that must exist between them, and
 * missing ones that came back, without the numbers in `taken`.
 *
 * @param recorded the last number of each writer that a record names
 */
async function* remainingNumbers(
  folder: string,
  { store, onLost }: Pick<HourReading, 'store' | 'onLost'>,
  { hour, read, missing }: HourPosition,
  recorded: ReadonlyMap<string, number>,
  taken: CoveredSegments,
): AsyncGenerator<Numbered> {
  const last = new Map(read);
  async function* upTo(writer: string, end: number): AsyncGenerator<Numbered> {
    const from = (last.get(writer) ?? 0) + 1;
    for (const gap of taken.missingIn({ writer, from, to: end }))
      yield* numbersOfGap({ hour, ...gap }, onLost);
    last.set(writer, Math.max(end, from - 1));
  }
  // Segments that were read from an object may still exist. The listing skips them.
  const position = new Map(read);
  for (const writer of taken.last.keys())
    position.set(writer, taken.lastConsecutive({ writer, number: read.get(writer) ?? 0 }));
  const open = missing.filter(({ writer }) => folderOfWriter(writer) === folder).flatMap(taken.missingIn);
  for (const { writer, from } of open)
    position.set(writer, Math.min(from - 1, position.get(writer) ?? from - 1));
  for await (const { writer, number } of listSegments(store, hour, folder, position)) {
    const isMissing = open.some((gap) => isWithin(gap, { writer, number }));
    if (isMissing) yield { writer, number };
    yield* upTo(writer, number - 1);
    yield* upTo(writer, number);
  }
  for (const [writer, end] of recorded) yield* upTo(writer, end);
}
