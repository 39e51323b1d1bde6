import { readHourFiles } from '../../ledger/compact/hour-files.js';
import { LedgerFileError } from '../../ledger/parquet/ledger-file-error.js';
import { openLedgerFile } from '../../ledger/parquet/open-ledger-file.js';
import { newSegmentsOf } from '../../ledger/read/log/follow-log.js';
import { readSegment } from '../../ledger/read-segment.js';
import { createCoverage, describeGap, rangesOf, segmentsIn } from '../../ledger/rollup/covered-numbers.js';
import type { CoveredNumbers, Rollup } from '../../ledger/rollup/rollup.js';
import { type SegmentPlace, segmentKey } from '../../ledger/segment-key.js';
import type { HourPosition } from './hour-position.js';
import { type HourSending, sendSegments } from './send-segments.js';

const CHUNK = 200;

/**
 * Sends what was not sent of a whole hour: by its compacted files when nothing of it was read before, otherwise by its segments, and by
 * the files of those that were deleted. Resolves to whether all is sent that is not lost. Throws as the store does; the next
 * call continues.
 */
export async function sendWholeHour(sending: HourSending, position: HourPosition): Promise<boolean> {
  const { hour } = position;
  const { rollups, isCompacted, faults } = await readHourFiles(sending.store, hour);
  for (const fault of faults) sending.onFault(hour, fault);
  const isSent =
    isCompacted && position.read.size === 0
      ? await sendFiles(sending, position, rollups)
      : await sendRest(sending, position, rollups);
  await sending.whenSettled();
  return isSent && faults.length === 0;
}

export function reportLost({ onFault }: HourSending, { hour, writer, number }: SegmentPlace): void {
  onFault(hour, new Error(describeGap(hour, { writer, from: number, to: number })));
}

async function sendFiles(
  sending: HourSending,
  position: HourPosition,
  rollups: readonly Rollup[],
): Promise<boolean> {
  let isSent = true;
  for (const rollup of rollups) {
    if (rollup.n <= position.files) continue;
    isSent = (await sendFile(sending, position, rollup)) && isSent;
    // What follows a file that cannot be read is sent now, and again once it can.
    if (isSent) position.files = rollup.n;
    position.row = 0;
  }
  return isSent;
}

async function sendRest(
  sending: HourSending,
  position: HourPosition,
  rollups: readonly Rollup[],
): Promise<boolean> {
  const { hour } = position;
  const before: CoveredNumbers = Object.fromEntries(
    [...position.read].map(([writer, last]) => [writer, last === 0 ? [] : [[1, last]]]),
  );
  const isCompacted = createCoverage(rollups);
  const { sent, left } = await sendSegments(
    sending,
    newSegmentsOf(sending.store, position, (lost) => reportLost(sending, lost), isCompacted),
  );
  const isSentAlready = createCoverage([{ writers: before }, { writers: rangesOf(sent) }]);
  let isSent = left.every(isCompacted);
  for (const rollup of rollups) {
    if ([...segmentsIn(rollup.writers)].every(isSentAlready)) continue;
    isSent = (await sendFile(sending, { hour, row: 0 }, rollup)) && isSent;
  }
  return isSent;
}

/**
 * Sends the lines of a file from a row on, and keeps in `place.row` how many are settled without a gap. Resolves to whether all lines
 * could be read, from the file or from its segments.
 */
async function sendFile(
  sending: HourSending,
  place: { readonly hour: string; row: number },
  rollup: Rollup,
): Promise<boolean> {
  const { store, onFault } = sending;
  const { parquet } = rollup;
  if (parquet === null) return true;
  const fromRow = place.row;
  const open: { end: number; isSettled: boolean }[] = [];
  const settle = (chunk: { isSettled: boolean }) => {
    chunk.isSettled = true;
    while (open[0]?.isSettled) place.row = open.shift()?.end ?? place.row;
  };
  try {
    const file = await openLedgerFile(store, parquet);
    let row = 0;
    for (const [index, group] of file.rowGroups.entries()) {
      const first = row;
      row += group.rows;
      if (row <= fromRow) continue;
      sending.onPosition(group.first);
      const lines = await file.readLines(index);
      for (let start = Math.max(0, fromRow - first); start < lines.length; start += CHUNK) {
        const some = lines.slice(start, start + CHUNK).map(({ line }) => line);
        const chunk = { end: first + start + some.length, isSettled: false };
        open.push(chunk);
        await sending.sendLines(place.hour, `${rollup.n}`, some, () => settle(chunk));
      }
    }
    await sending.whenSettled();
    return true;
  } catch (error) {
    if (!(error instanceof LedgerFileError)) throw error;
    onFault(place.hour, error);
    return sendSegmentsOf(sending, rollup);
  }
}

/** Its segments are kept as long as a file was not read back. Resolves to whether all of them exist. */
async function sendSegmentsOf(
  { store, sendLines }: HourSending,
  { hour, writers }: Rollup,
): Promise<boolean> {
  let isSent = true;
  for (const { writer, number } of segmentsIn(writers)) {
    const segment = await readSegment(store, segmentKey({ hour, writer, number }));
    const lines = (segment?.entries ?? []).map(({ line }) => line);
    if (segment === null) isSent = false;
    else await sendLines(hour, `${writer}~${number}`, lines, () => undefined);
  }
  return isSent;
}
