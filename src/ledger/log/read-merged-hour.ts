import type { ListedObject, ObjectStore } from '../../store/object-store.js';
import { readDocument } from '../../store/read-document.js';
import { MERGED_FOLDER, recordKey } from '../ledger-keys.js';
import { readAhead } from '../read-ahead.js';
import { type MergeRecord, parseRecord } from './merge-record.js';
import { MergedHourError } from './merged-hour-error.js';

/** What was merged of an hour. */
export interface MergedHour {
  /** Records whose object is there with the recorded size, in the order of their numbers. */
  readonly records: readonly MergeRecord[];
  /** Records that cannot be read, and those whose object is missing or another's. What they cover may be in segments. */
  readonly faults: readonly MergedHourError[];
  /** The highest number of a record, whether it can be read or not; 0 without one. */
  readonly last: number;
  /** Objects that no record names. */
  readonly unnamed: readonly ListedObject[];
}

/** Records that are read at once. */
const AT_ONCE = 4;
/** Far above a record of the segments that one object may have. */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

/** Reads the records of an hour. Throws `StoreError`. */
export async function readMergedHour(store: ObjectStore, hour: string): Promise<MergedHour> {
  const folder = MERGED_FOLDER + hour;
  const numbers: number[] = [];
  const objects = new Map<string, ListedObject>();
  for await (const listed of store.list(folder)) {
    const name = listed.key.slice(folder.length);
    const digits = RECORD_NAME.exec(name)?.[1];
    if (digits !== undefined) numbers.push(Number(digits));
    else if (OBJECT_NAME.test(name)) objects.set(listed.key, listed);
  }
  const records: MergeRecord[] = [];
  const faults: MergedHourError[] = [];
  const reads = readAhead(
    numbers.sort((a, b) => a - b),
    AT_ONCE,
    (n) => readRecord(store, hour, n),
  );
  for await (const record of reads) {
    const fault = record instanceof MergedHourError ? record : await faultOf(store, record, objects);
    if (fault !== null) faults.push(fault);
    else records.push(record as MergeRecord);
    if (!(record instanceof MergedHourError)) objects.delete(record.object);
  }
  return { records, faults, last: numbers.at(-1) ?? 0, unnamed: [...objects.values()] };
}

const RECORD_NAME = /^([1-9]\d{0,8})\.json$/;
const OBJECT_NAME = /^[1-9]\d{0,8}-[0-9a-f]{16}\.ndjson\.gz$/;

async function readRecord(store: ObjectStore, hour: string, n: number) {
  const key = recordKey(hour, n);
  const record = parseRecord(hour, n, await readDocument(store, key, MAX_RECORD_BYTES));
  return record ?? new MergedHourError(key, 'it is no record of its hour and version');
}

async function faultOf(
  store: ObjectStore,
  { object, size }: MergeRecord,
  listed: ReadonlyMap<string, ListedObject>,
): Promise<MergedHourError | null> {
  // The object can have been written behind the place that the listing had come to.
  const found = listed.get(object) ?? (await store.head(object));
  if (found === null) return new MergedHourError(object, 'it is missing');
  if (found.size === size) return null;
  return new MergedHourError(object, `it has ${found.size} bytes, and its record says ${size}`);
}
