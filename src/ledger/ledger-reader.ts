import { buffer } from 'node:stream/consumers';
import type { LedgerLine } from '../domain/delivery.js';
import { type ObjectStore, StoreError } from '../store/object-store.js';
import { type FinishedFile, type OnDamaged, readFinishedFiles } from './compact/hour-files.js';
import { LedgerFileError } from './compact/ledger-file-error.js';
import { checkHour, type LedgerRowGroup, openLedgerFile } from './compact/open-ledger-file.js';
import { hourFolder, LEDGER_FOLDER, LEDGER_PARQUET_FOLDER, ROLLUPS_FOLDER } from './ledger-keys.js';
import { type ParsedSegment, parseSegment } from './parse-segment.js';
import { readAhead } from './read-ahead.js';

/** Our segments hold 1 MiB or a single line. A much larger object is foreign and is not read into memory. */
const MAX_SEGMENT_BYTES = 64 * 1024 * 1024;

export interface LedgerRange {
  /** ISO 8601; lines received at or after it. Default: from the beginning. */
  readonly since?: string;
  /** ISO 8601; lines received before it. Default: to the end. */
  readonly until?: string;
}

export interface LedgerReadOptions extends LedgerRange {
  /** Called with every line that cannot be read; `line` counts from 1, 0 stands for the whole segment. */
  readonly onBroken?: (broken: { segment: string; line: number }) => void;
  /** Called with every line of a newer version, which is skipped. */
  readonly onNewer?: (newer: { segment: string; line: number }) => void;
  /**
   * Called with every file of the compacted ledger that is damaged or missing; the rest is read. Default: throws
   * `LedgerFileError` where lines would be missing.
   */
  readonly onDamaged?: OnDamaged;
  /** Called with the key of every object of the ledger that was read. */
  readonly onSegment?: (key: string) => void;
  /** Segments read at once. Default 8. */
  readonly concurrency?: number;
}

/** A part of the ledger: a segment, or a compacted file instead of the segments that it covers. */
type LedgerPart =
  | { readonly kind: 'segment'; readonly key: string }
  | { readonly kind: 'file'; readonly partition: string; readonly file: FinishedFile };

/**
 * Streams the ledger in bounded memory: by the hour of receipt, and within an hour first its compacted files, each in
 * order of receipt, then its other segments by the time they were written. So lines are in order of receipt only up to the
 * duration of their deliveries. The same delivery id can come more than once. Throws `StoreError` when the store does, and
 * `LedgerFileError` as `onDamaged` says.
 */
export async function* readLedger(
  store: ObjectStore,
  options: LedgerReadOptions = {},
): AsyncGenerator<LedgerLine> {
  const { onBroken, onNewer, onDamaged, onSegment, concurrency = 8 } = options;
  const since = options.since === undefined ? '' : new Date(options.since).toISOString();
  const until = options.until === undefined ? '~' : new Date(options.until).toISOString();
  const isInRange = ({ receivedAt }: LedgerLine) => receivedAt >= since && receivedAt < until;
  const report = (key: string, parsed: ParsedSegment | null) => {
    for (const line of parsed?.brokenLines ?? []) onBroken?.({ segment: key, line });
    for (const line of parsed?.newerLines ?? []) onNewer?.({ segment: key, line });
  };
  const parts = readAhead(listParts(store, options), concurrency, async (part) => ({
    part,
    parsed: part.kind === 'segment' ? await readSegment(store, part.key) : null,
  }));
  for await (const { part, parsed } of parts) {
    if (part.kind === 'segment') {
      if (parsed !== null) onSegment?.(part.key);
      report(part.key, parsed);
      for (const { line } of parsed?.entries ?? []) if (isInRange(line)) yield line;
      continue;
    }
    const { partition, file } = part;
    if (file.parquetKey !== null) onSegment?.(file.parquetKey);
    for await (const line of readCompactedLines(store, partition, file, { since, until, onDamaged })) {
      if (isInRange(line)) yield line;
    }
    if (file.unreadable === 0 || (!onBroken && !onNewer)) continue;
    for (const name of file.segments) report(partition + name, await readSegment(store, partition + name));
  }
}

/**
 * The lines of a file, and of its segments where it is damaged and they still exist: some of them twice, and some outside
 * of the range.
 */
async function* readCompactedLines(
  store: ObjectStore,
  partition: string,
  { parquetKey, segments, extent }: FinishedFile,
  { since, until, onDamaged }: Required<LedgerRange> & { readonly onDamaged: OnDamaged | undefined },
): AsyncGenerator<LedgerLine> {
  if (parquetKey === null) return;
  let damage: LedgerFileError | null = null;
  /** The times of the lines that cannot be read. */
  const unread: Pick<LedgerRowGroup, 'first' | 'last'>[] = [];
  const note = (error: unknown, times?: LedgerRowGroup) => {
    if (!(error instanceof LedgerFileError)) throw error;
    damage ??= error;
    if (times !== undefined) unread.push(times);
  };
  try {
    const file = await openLedgerFile(store, parquetKey, extent ?? undefined);
    if (file === null) throw new LedgerFileError(parquetKey, 'it is missing');
    if (extent === null) checkHour(file);
    for (const [index, group] of file.rowGroups.entries()) {
      if (new Date(group.last).toISOString() < since || new Date(group.first).toISOString() >= until)
        continue;
      yield* await file.readLines(index).catch((error: unknown) => {
        note(error, group);
        return [];
      });
    }
    // Other readers find jobs by the bloom filters.
    if (onDamaged) await file.rowGroupsOfJobs([]).catch(note);
  } catch (error) {
    note(error);
    unread.push({ first: Number.NEGATIVE_INFINITY, last: Number.POSITIVE_INFINITY });
  }
  if (damage === null) return;
  if (onDamaged === undefined && extent === null) throw damage;
  onDamaged?.(damage);
  if (unread.length === 0) return;
  for (const name of segments) {
    const parsed = await readSegment(store, partition + name);
    if (parsed === null && onDamaged === undefined) throw damage;
    for (const { line } of parsed?.entries ?? []) {
      const time = Date.parse(line.receivedAt);
      if (unread.some(({ first, last }) => time >= first && time <= last)) yield line;
    }
  }
}

/** Reads one segment; null when it is missing, e.g. after a life-cycle rule of the bucket deleted it. */
export async function readSegment(store: ObjectStore, key: string): Promise<ParsedSegment | null> {
  const unparsed = await fetchSegment(store, key);
  return unparsed && unparsed.parse();
}

/** A segment that was read and not parsed yet: parsing takes the event loop for some milliseconds a megabyte. */
export interface UnparsedSegment {
  parse(): ParsedSegment;
}

/** Reads one segment without parsing it; null when it is missing. */
export async function fetchSegment(store: ObjectStore, key: string): Promise<UnparsedSegment | null> {
  const reading = await store.read(key);
  if (reading === null) return null;
  if (reading.info.size > MAX_SEGMENT_BYTES) {
    reading.body.destroy();
    return { parse: () => ({ entries: [], brokenLines: [0], newerLines: [] }) };
  }
  try {
    const content = await buffer(reading.body);
    return { parse: () => ofItsHour(key, parseSegment(content)) };
  } catch (cause) {
    throw new StoreError('read', `${key} could not be read to its end`, { cause });
  }
}

/** A segment without lines of its hour may be a copy of another one: as a whole it counts as a broken line as well. */
function ofItsHour(key: string, parsed: ParsedSegment): ParsedSegment {
  const hour = key.slice(LEDGER_FOLDER.length, key.lastIndexOf('/') + 1);
  const { entries, brokenLines } = parsed;
  if (entries.length === 0 || entries.some(({ line }) => hourFolder(line.receivedAt) === hour)) return parsed;
  return { ...parsed, brokenLines: [0, ...brokenLines] };
}

/** Keys of a partition's segments, in the order they were written. */
export async function* listPartition(
  store: ObjectStore,
  partition: string,
  options?: { startAfter: string },
): AsyncGenerator<string> {
  for await (const { key } of store.list(partition, options)) {
    if (isSegmentKey(key)) yield key;
  }
}

/** Folders of the hours that overlap the range and hold segments, oldest first. */
export function listPartitions(store: ObjectStore, range: LedgerRange = {}): AsyncGenerator<string> {
  return listHours(store, LEDGER_FOLDER, range);
}

async function* listHours(store: ObjectStore, root: string, range: LedgerRange): AsyncGenerator<string> {
  const folderOf = (instant: string) => root + hourFolder(new Date(instant).toISOString());
  const first = range.since === undefined ? '' : folderOf(range.since);
  const last = range.until === undefined ? '~' : folderOf(range.until);
  for await (const day of store.folders(root)) {
    if (!day.startsWith(`${root}dt=`)) continue;
    if (day < first.slice(0, day.length) || day > last) continue;
    for await (const hour of store.folders(day)) {
      if (hour >= first && hour <= last) yield hour;
    }
  }
}

/** What to read for a range: every compacted file, and the segments that none of them covers. */
async function* listParts(store: ObjectStore, range: LedgerReadOptions): AsyncGenerator<LedgerPart> {
  const partitions = new Set<string>();
  for await (const partition of listPartitions(store, range)) partitions.add(partition);
  for (const root of [ROLLUPS_FOLDER, LEDGER_PARQUET_FOLDER]) {
    for await (const folder of listHours(store, root, range)) {
      partitions.add(LEDGER_FOLDER + folder.slice(root.length));
    }
  }
  for (const partition of [...partitions].sort()) {
    // Rollups first: a segment that is compacted and deleted between the two listings must not be missed.
    const hour = partition.slice(LEDGER_FOLDER.length);
    const files = await readFinishedFiles(store, hour, undefined, range.onDamaged);
    for (const file of files) yield { kind: 'file', partition, file };
    const covered = new Set(files.flatMap(({ segments }) => segments.map((name) => partition + name)));
    for await (const key of listPartition(store, partition)) {
      if (!covered.has(key)) yield { kind: 'segment', key };
    }
  }
}

const PARTITION = /dt=(\d{4}-\d\d-\d\d)\/hour=(\d\d)\/$/;

/** The begin of a partition's hour in milliseconds since the epoch; NaN for a foreign folder. */
export function startOfPartition(partition: string): number {
  const [, day, hour] = PARTITION.exec(partition) ?? [];
  return Date.parse(`${day}T${hour}:00:00.000Z`);
}

export function isSegmentKey(key: string): boolean {
  return key.endsWith('.ndjson');
}
