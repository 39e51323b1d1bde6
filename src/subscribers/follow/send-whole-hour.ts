import { readHourFiles } from '../../ledger/compact/hour-files.js';
import { LedgerFileError } from '../../ledger/parquet/ledger-file-error.js';
import { type LedgerFile, openLedgerFile } from '../../ledger/parquet/open-ledger-file.js';
import { newSegmentsOf } from '../../ledger/read/log/follow-log.js';
import { readSegment } from '../../ledger/read-segment.js';
import { createCoverage, describeGap, segmentsIn } from '../../ledger/rollup/covered-numbers.js';
import type { CoveredNumbers, Rollup } from '../../ledger/rollup/rollup.js';
import { type SegmentPlace, segmentKey } from '../../ledger/segment-key.js';
import type { FileProgress } from '../outbox-state.js';
import type { HourPosition } from './hour-position.js';
import { type HourSending, sendSegments } from './send-segments.js';

const CHUNK = 200;
const NOTHING: FileProgress = { rows: 0, areSegmentsSent: false };

/**
 * Sends what was not sent of a whole hour: by its compacted files when nothing of it was read before, otherwise by its segments, and by
 * the files of those that were deleted. Resolves to whether all is sent that is not lost. Throws as the store does; the next
 * call continues.
 */
export async function sendWholeHour(sending: HourSending, position: HourPosition): Promise<boolean> {
  const { hour, read, files } = position;
  const { rollups, isCompacted, faults } = await readHourFiles(sending.store, hour);
  for (const fault of faults) sending.onFault(hour, fault);
  let isSent = faults.length === 0;
  if (!isCompacted || read.size > 0) isSent = (await sendNewSegments(sending, position, rollups)) && isSent;
  const isRead = createReadCoverage(position);
  for (const rollup of rollups) {
    if (!files.has(`${rollup.n}`) && [...segmentsIn(rollup.writers)].every(isRead)) continue;
    isSent = (await sendFile(sending, position, rollup)) && isSent;
  }
  await sending.whenSettled();
  return isSent;
}

export function reportLost({ onFault }: HourSending, { hour, writer, number }: SegmentPlace): void {
  onFault(hour, new Error(describeGap(hour, { writer, from: number, to: number })));
}

function createReadCoverage({ read }: HourPosition) {
  const writers: CoveredNumbers = Object.fromEntries(
    [...read].map(([writer, last]) => [writer, last === 0 ? [] : [[1, last]]]),
  );
  return createCoverage([{ writers }]);
}

/** Resolves to whether none is left but for those that a file has. */
async function sendNewSegments(
  sending: HourSending,
  position: HourPosition,
  rollups: readonly Rollup[],
): Promise<boolean> {
  const coverages = rollups.map((rollup) => ({ n: `${rollup.n}`, covers: createCoverage([rollup]) }));
  const fileOf = (segment: { writer: string; number: number }) =>
    coverages.find(({ covers }) => covers(segment));
  const segments = newSegmentsOf(
    sending.store,
    position,
    (lost) => reportLost(sending, lost),
    (deleted) => {
      const file = fileOf(deleted);
      // The position moves behind the deleted segment, and no longer shows that its file is needed.
      if (file && !position.files.has(file.n)) position.files.set(file.n, { rows: 0, areSegmentsSent: true });
      return file !== undefined;
    },
  );
  const { left } = await sendSegments(sending, segments);
  return left.every((segment) => fileOf(segment) !== undefined);
}

/** Resolves to whether all lines of a file are sent, from the file or from its segments. */
async function sendFile(sending: HourSending, position: HourPosition, rollup: Rollup): Promise<boolean> {
  const { hour, files } = position;
  const { parquet } = rollup;
  const n = `${rollup.n}`;
  const done = { rows: rollup.rows, areSegmentsSent: true };
  if (parquet === null || files.get(n)?.rows === rollup.rows) return true;
  try {
    await sendRows(sending, position, n, await openLedgerFile(sending.store, parquet));
    await sending.whenSettled();
    files.set(n, done);
    return true;
  } catch (error) {
    if (!(error instanceof LedgerFileError)) throw error;
    sending.onFault(hour, error);
  }
  if (files.get(n)?.areSegmentsSent) return false;
  const isSent = await sendSegmentsOf(sending, position, rollup);
  await sending.whenSettled();
  files.set(n, isSent ? done : { ...(files.get(n) ?? NOTHING), areSegmentsSent: true });
  return isSent;
}

/** Sends the lines of a file that were not sent before, and keeps how many are settled without a gap. */
async function sendRows(
  sending: HourSending,
  { hour, files }: HourPosition,
  n: string,
  file: LedgerFile,
): Promise<void> {
  const begun = files.get(n) ?? NOTHING;
  const open: { end: number; isSettled: boolean }[] = [];
  const settle = (chunk: { isSettled: boolean }) => {
    chunk.isSettled = true;
    while (open[0]?.isSettled) files.set(n, { ...begun, rows: open.shift()?.end ?? begun.rows });
  };
  let row = 0;
  for (const [index, group] of file.rowGroups.entries()) {
    const first = row;
    row += group.rows;
    if (row <= begun.rows) continue;
    sending.onPosition(group.first);
    const lines = await file.readLines(index);
    for (let start = Math.max(0, begun.rows - first); start < lines.length; start += CHUNK) {
      const some = lines.slice(start, start + CHUNK).map(({ line }) => line);
      const chunk = { end: first + start + some.length, isSettled: false };
      open.push(chunk);
      await sending.sendLines(hour, n, some, () => settle(chunk));
    }
  }
}

/** Its segments are kept as long as a file was not read back. Resolves to whether all of them exist. */
async function sendSegmentsOf(
  { store, sendLines }: HourSending,
  position: HourPosition,
  { hour, writers }: Rollup,
): Promise<boolean> {
  let isSent = true;
  const isRead = createReadCoverage(position);
  for (const { writer, number } of segmentsIn(writers)) {
    if (isRead({ writer, number })) continue;
    const segment = await readSegment(store, segmentKey({ hour, writer, number }));
    const lines = (segment?.entries ?? []).map(({ line }) => line);
    if (segment === null) isSent = false;
    else await sendLines(hour, `${writer}~${number}`, lines, () => undefined);
  }
  return isSent;
}
