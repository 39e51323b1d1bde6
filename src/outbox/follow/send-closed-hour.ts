import type { LedgerLine } from '../../domain/delivery.js';
import { type FinishedFile, readFinishedFiles } from '../../ledger/compact/hour-files.js';
import { LedgerFileError } from '../../ledger/compact/ledger-file-error.js';
import { openLedgerFile } from '../../ledger/compact/open-ledger-file.js';
import { LEDGER_FOLDER } from '../../ledger/ledger-keys.js';
import { readSegment } from '../../ledger/ledger-reader.js';
import { segmentName } from '../../ledger/segment-name.js';
import type { ObjectStore } from '../../store/object-store.js';
import { type FollowedHour, listAllNames } from './followed-hour.js';
import { createSegmentRecord } from './segment-record.js';

/** What an hour is sent with. */
export interface HourSending {
  readonly store: ObjectStore;
  /**
   * Reads segments that were not read before, and records each once its events are settled. Resolves to the names of those
   * that are missing.
   */
  readSegments(followed: FollowedHour, names: readonly string[]): Promise<string[]>;
  /** Sends the events of some lines. `onSettled` is called once all are settled. */
  sendLines(hour: string, part: string, lines: readonly LedgerLine[], onSettled: () => void): Promise<void>;
  /** Resolves when all events are settled that were read so far. */
  whenSettled(): Promise<void>;
}

const CHUNK = 200;

/**
 * Sends what was not sent of a closed hour: the compacted files that are new, and the segments that neither a file nor the
 * record knows. Resolves to whether one number describes the hour from then on: its files hold all of its segments.
 *
 * Throws `LedgerFileError` when a compacted file is damaged and its segments are gone, and as the store does. The next
 * call continues.
 */
export async function sendClosedHour(
  sending: HourSending,
  followed: FollowedHour,
  listsSegments: boolean,
): Promise<boolean> {
  const { store } = sending;
  // Files first: a segment that is compacted and deleted between the two listings must not be missed.
  const files = await readFinishedFiles(store, followed.hour);
  if (followed.record.isEmpty() && followed.reading.size === 0) {
    for (const file of files) {
      if (file.n <= followed.files) continue;
      await sendFile(sending, followed, file, followed.row);
      followed.files = file.n;
      followed.row = 0;
    }
  }
  const listed = listsSegments ? await listAllNames(store, followed.hour) : [];
  const sent = new Set(
    files.flatMap(({ n, segments }) => (n <= followed.files ? segments.map(segmentName) : [])),
  );
  const later = new Set(
    files.flatMap(({ n, segments }) => (n > followed.files ? segments.map(segmentName) : [])),
  );
  const open = [...new Set([...later, ...listed.filter((name) => !sent.has(name))])].sort();
  await sendUnread(sending, followed, open, files);
  await sending.whenSettled();
  if (followed.postponed.size > 0 || open.some((name) => !later.has(name))) return false;
  followed.files = Math.max(followed.files, ...files.map(({ n }) => n));
  followed.record = createSegmentRecord();
  return true;
}

/** Compares all names of an open hour. */
export async function sendUnreadOfOpenHour(sending: HourSending, followed: FollowedHour): Promise<void> {
  // Segments that are being read are not in the record yet.
  await sending.whenSettled();
  const names = await listAllNames(sending.store, followed.hour);
  await sendUnread(
    sending,
    followed,
    names.filter((name) => !followed.postponed.has(name)),
    [],
  );
}

async function sendUnread(
  sending: HourSending,
  followed: FollowedHour,
  names: readonly string[],
  files: readonly FinishedFile[],
): Promise<void> {
  const { store } = sending;
  const { hour, record } = followed;
  const single: string[] = [];
  for (const unread of record.unread(names)) {
    if (unread.range === null) {
      single.push(...unread.names.filter((name) => !followed.reading.has(name)));
      continue;
    }
    let isWhole = true;
    const sentFiles = new Set<number>();
    for (const name of unread.names) {
      const segment = await readSegment(store, `${LEDGER_FOLDER}${hour}${name}.ndjson`);
      if (segment === null) await sendInstead(sending, followed, name, files, sentFiles);
      else {
        if (segment.newerLines.length > 0) isWhole = false;
        const lines = segment.entries.map(({ line }) => line);
        await sending.sendLines(hour, name, lines, () => undefined);
      }
    }
    await sending.whenSettled();
    if (isWhole) record.settle(unread);
  }
  const missing = await sending.readSegments(followed, single);
  const sentFiles = new Set<number>();
  for (const name of missing) await sendInstead(sending, followed, name, files, sentFiles);
  await sending.whenSettled();
  for (const name of missing) record.add(name);
}

/** The segment was deleted: its lines are in the compacted file that covers it. */
async function sendInstead(
  sending: HourSending,
  followed: FollowedHour,
  name: string,
  files: readonly FinishedFile[],
  sentFiles: Set<number>,
): Promise<void> {
  const file = files.find(({ segments }) => segments.some((each) => segmentName(each) === name));
  // Neither a segment nor a file: a life-cycle rule of the bucket ended the line before it was sent.
  if (file === undefined || sentFiles.has(file.n)) return;
  sentFiles.add(file.n);
  const apart = { ...followed, row: 0 };
  await sendFile(sending, apart, file, 0);
}

/** Sends the lines of a file from a row on, and keeps in `progress.row` how many are settled without a gap. */
async function sendFile(
  sending: HourSending,
  progress: Pick<FollowedHour, 'hour'> & { row: number },
  { parquetKey, segments, extent }: FinishedFile,
  fromRow: number,
): Promise<void> {
  const { store } = sending;
  if (parquetKey === null) return;
  const part = parquetKey.slice(parquetKey.lastIndexOf('/') + 1);
  const open: { end: number; isSettled: boolean }[] = [];
  const settle = (chunk: { isSettled: boolean }) => {
    chunk.isSettled = true;
    while (open[0]?.isSettled) progress.row = open.shift()?.end ?? progress.row;
  };
  try {
    const file = await openLedgerFile(store, parquetKey, extent ?? undefined);
    if (file === null) throw new LedgerFileError(parquetKey, 'it is missing');
    let row = 0;
    for (const [index, group] of file.rowGroups.entries()) {
      const first = row;
      row += group.rows;
      if (row <= fromRow) continue;
      const lines = await file.readLines(index);
      for (let start = Math.max(0, fromRow - first); start < lines.length; start += CHUNK) {
        const end = Math.min(lines.length, start + CHUNK);
        const chunk = { end: first + end, isSettled: false };
        open.push(chunk);
        await sending.sendLines(progress.hour, part, lines.slice(start, end), () => settle(chunk));
      }
    }
  } catch (error) {
    if (!(error instanceof LedgerFileError)) throw error;
    // Its segments are kept as long as the file was not read back.
    for (const name of segments) {
      const segment = await readSegment(store, `${LEDGER_FOLDER}${progress.hour}${name}`);
      if (segment === null) throw error;
      const lines = segment.entries.map(({ line }) => line);
      await sending.sendLines(progress.hour, segmentName(name), lines, () => undefined);
    }
  }
  await sending.whenSettled();
}
