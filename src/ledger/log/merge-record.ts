import { isJsonObject } from '../../lib/text/parse-json.js';
import { type ListedObject, type ObjectStore, PartialListingError } from '../../store/object-store.js';
import { readDocument } from '../../store/read-document.js';
import { startOfHour } from '../hours.js';
import { LEDGER_FOLDER, mergedFolder, mergedObjectKey, recordKey } from '../ledger-keys.js';
import { readAhead } from '../read-ahead.js';
import { UnreadableError } from '../retrying-reads.js';
import { folderOfWriter, type SegmentPlace } from '../segment-key.js';
import { coveredNumbers } from './covered-numbers.js';

/** A segment of a merged text. */
export interface MergedSegment extends Pick<SegmentPlace, 'writer' | 'number'> {
  readonly lines: number;
  /** Size of the segment: one byte less than its text here when its last line had no line feed. */
  readonly bytes: number;
  /** The store's time of the segment, in milliseconds since the epoch. */
  readonly writtenAt: number;
}

/** A gzip member of a merged object, which can be decompressed by itself. */
export interface MergedMember {
  /** Compressed. */
  readonly bytes: number;
  readonly lines: number;
  /** The first 16 hex digits of the hash of its text. */
  readonly sha256: string;
}

/**
 * Describes an object of a merged hour: the concatenated text of its segments, each ended by a line feed. The object counts only once this
 * record exists.
 */
export interface MergeRecord {
  readonly hour: string;
  /** Number of the record, from 1; segments that appear later are in a further record. */
  readonly n: number;
  /** Folder of the previous hour that has lines; null where the merge did not know it. */
  readonly previous: string | null;
  /** Key of the object. */
  readonly object: string;
  /** Bytes of the object. */
  readonly size: number;
  /** Hash of the text, in hex digits. */
  readonly sha256: string;
  /** Segments in the order of the text. */
  readonly segments: readonly MergedSegment[];
  /** Gzip members in the order of the object. */
  readonly members: readonly MergedMember[];
}

export function encodeRecord(record: MergeRecord): Buffer {
  const segments = record.segments.map((segment) => ({
    ...segment,
    writtenAt: new Date(segment.writtenAt).toISOString(),
  }));
  return Buffer.from(`${JSON.stringify({ v: 1, ...record, segments })}\n`);
}

/** Parses a record; null unless it is the one of this folder of segments, hour and number. */
function parseRecord(folder: string, hour: string, n: number, value: unknown): MergeRecord | null {
  if (!isJsonObject(value) || value.v !== 1 || value.hour !== hour || value.n !== n) return null;
  const { previous, object, size, sha256 } = value;
  if (typeof sha256 !== 'string' || !SHA256.test(sha256)) return null;
  if (object !== mergedObjectKey(folder, hour, n, sha256)) return null;
  if (previous !== null && (typeof previous !== 'string' || Number.isNaN(startOfHour(previous)))) return null;
  const segments = listOf(value.segments, segmentOf);
  const members = listOf(value.members, memberOf);
  if (!isCount(size) || segments === null || members === null || segments.length === 0) return null;
  if (segments.some(({ writer }) => folderOfWriter(writer) !== folder)) return null;
  const isWhole = sum(members, 'bytes') === size && sum(members, 'lines') === sum(segments, 'lines');
  return isWhole ? { hour, n, previous, object, size, sha256, segments, members } : null;
}

const SHA256 = /^[0-9a-f]{64}$/;
const WRITER = /^(?:[a-z0-9-]{1,63}\/)?[A-Za-z0-9_-]{1,128}$/;

function listOf<Item>(value: unknown, itemOf: (each: unknown) => Item | null): Item[] | null {
  if (!Array.isArray(value)) return null;
  const items = value.map(itemOf);
  return items.every((item) => item !== null) ? (items as Item[]) : null;
}

function segmentOf(value: unknown): MergedSegment | null {
  if (!isJsonObject(value)) return null;
  const { writer, number, lines, bytes } = value;
  const writtenAt = Date.parse(String(value.writtenAt));
  if (typeof writer !== 'string' || !WRITER.test(writer) || Number.isNaN(writtenAt)) return null;
  if (!isCount(number) || number === 0 || !isCount(lines) || !isCount(bytes)) return null;
  return { writer, number, lines, bytes, writtenAt };
}

function memberOf(value: unknown): MergedMember | null {
  if (!isJsonObject(value)) return null;
  const { bytes, lines, sha256 } = value;
  return isCount(bytes) && isCount(lines) && typeof sha256 === 'string' ? { bytes, lines, sha256 } : null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function sum<Field extends string>(items: readonly Readonly<Record<Field, number>>[], field: Field): number {
  return items.reduce((total, item) => total + item[field], 0);
}

/** For `.catch`: null when an object or a folder cannot be read. Throws every other error. */
export function nullIfDamaged(error: unknown): null {
  if (error instanceof MergedHourError || error instanceof UnreadableError) return null;
  throw error;
}

/** An object of a merged hour is missing, damaged or foreign, or a folder of the hour cannot be listed. The store itself works. */
export class MergedHourError extends Error {
  readonly key: string;
  /** What is wrong with it, without its key. */
  readonly detail: string;
  /** The record of the object; null where the record itself cannot be read. */
  readonly record: MergeRecord | null;

  /** @param detail begins with a verb's subject: "it is missing" */
  constructor(key: string, detail: string, record: MergeRecord | null = null) {
    super(`${key}: ${detail}`);
    this.name = 'MergedHourError';
    this.key = key;
    this.detail = detail;
    this.record = record;
  }
}

/** The records and objects of a merged hour. */
export interface MergedHour {
  /** Records whose object is there with the recorded size, in the order of their numbers. */
  readonly records: readonly MergeRecord[];
  /** Records that cannot be read, and those whose object is missing or foreign. The segments that they cover may still exist. */
  readonly faults: readonly MergedHourError[];
  /** The highest number of a record, whether it can be read or not; 0 without one. */
  readonly last: number;
  /** Objects that no record names. */
  readonly unnamed: readonly ListedObject[];
}

/** Faults whose segments no sound record covers: when an hour was merged again, later records cover those of a deleted object. */
export function unresolvedFaults({
  records,
  faults,
}: Pick<MergedHour, 'records' | 'faults'>): MergedHourError[] {
  const isMerged = coveredNumbers(records).has;
  return faults.filter(({ record }) => record === null || !record.segments.every(isMerged));
}

/** Records read concurrently. */
const AT_ONCE = 4;
/** Far larger than the record of the segments that one object may have. */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

/**
 * Reads the records of an hour. Throws `StoreError`.
 *
 * @param folder of its segments
 * @param known number of a record that exists: a listing without it is incomplete
 */
export async function readMergedHour(
  store: ObjectStore,
  hour: string,
  folder = LEDGER_FOLDER,
  known: number | null = null,
): Promise<MergedHour> {
  const { numbers, objects } = await listMergedHour(store, hour, folder, known);
  const records: MergeRecord[] = [];
  const faults: MergedHourError[] = [];
  const reads = readAhead(
    numbers.sort((a, b) => a - b),
    AT_ONCE,
    (n) => readRecord(store, folder, hour, n),
  );
  for await (const record of reads) {
    const fault = record instanceof MergedHourError ? record : await faultOf(store, record, objects);
    if (fault !== null) faults.push(fault);
    else records.push(record as MergeRecord);
    if (!(record instanceof MergedHourError)) objects.delete(record.object);
  }
  return { records, faults, last: numbers.at(-1) ?? 0, unnamed: [...objects.values()] };
}

/**
 * Lists again when an object's record exists and is not listed: it was written meanwhile, or the listing is incomplete. Without it the
 * segments, which may have been deleted, would count as never written, and the object would be swept.
 */
async function listMergedHour(store: ObjectStore, hour: string, folder: string, known: number | null) {
  const merged = mergedFolder(folder) + hour;
  const numbers: number[] = [];
  const objects = new Map<string, ListedObject>();
  const withObject = new Set<number>();
  for await (const listed of store.list(merged)) {
    const name = listed.key.slice(merged.length);
    const digits = RECORD_NAME.exec(name)?.[1];
    if (digits !== undefined) numbers.push(Number(digits));
    if (!OBJECT_NAME.test(name)) continue;
    objects.set(listed.key, listed);
    withObject.add(Number.parseInt(name, 10));
  }
  if (known !== null && !numbers.includes(known))
    throw new PartialListingError(merged, recordKey(folder, hour, known));
  for (const n of withObject) {
    if (numbers.includes(n) || (await store.head(recordKey(folder, hour, n))) === null) continue;
    return listMergedHour(store, hour, folder, n);
  }
  return { numbers, objects };
}

const RECORD_NAME = /^([1-9]\d{0,8})\.json$/;
const OBJECT_NAME = /^[1-9]\d{0,8}-[0-9a-f]{16}\.ndjson\.gz$/;

async function readRecord(store: ObjectStore, folder: string, hour: string, n: number) {
  const key = recordKey(folder, hour, n);
  try {
    const record = parseRecord(folder, hour, n, await readDocument(store, key, MAX_RECORD_BYTES));
    return record ?? new MergedHourError(key, 'it is no record of its hour and version');
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    return new MergedHourError(key, error.message);
  }
}

async function faultOf(
  store: ObjectStore,
  record: MergeRecord,
  listed: ReadonlyMap<string, ListedObject>,
): Promise<MergedHourError | null> {
  const { object, size } = record;
  // The object may have been written after the listing had passed its key.
  const found = listed.get(object) ?? (await store.head(object));
  if (found === null) return new MergedHourError(object, 'it is missing', record);
  if (found.size === size) return null;
  return new MergedHourError(object, `it has ${found.size} bytes, and its record says ${size}`, record);
}
