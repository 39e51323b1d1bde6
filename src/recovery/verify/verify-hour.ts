import { createHash } from 'node:crypto';
import { LEDGER_FOLDER } from '../../ledger/ledger-keys.js';
import { listSegments } from '../../ledger/list-segments.js';
import { coveredNumbers, describeLost } from '../../ledger/log/covered-numbers.js';
import type { MergeRecord } from '../../ledger/log/merge-record.js';
import { MergedHourError, readMergedHour, unresolvedFaults } from '../../ledger/log/merge-record.js';
import { readMergedSegments } from '../../ledger/log/merged-segments.js';
import { fetchSegment } from '../../ledger/read-segment.js';
import { segmentKey } from '../../ledger/segment-key.js';
import type { ObjectStore } from '../../store/object-store.js';

/** Called with the key of a lost or damaged object, and why. */
type OnLost = (key: string, reason: string) => void;

interface HourCheck {
  readonly store: ObjectStore;
  /** Folder of the hour. */
  readonly hour: string;
  /** Compare merged segments by their bytes; otherwise by their size. */
  readonly deep: boolean;
  readonly onLost: OnLost;
}

interface HourResult {
  /** Number of segments and merged objects. */
  readonly objects: number;
  /** Whether a segment or a record of the hour exists, damaged or not. An object that no record names does not count. */
  readonly exists: boolean;
  /** The last hour before it that has lines; null where nothing names it. */
  readonly previous: string | null;
}

/**
 * Verifies that every segment of an hour exists, or is in a merged object whose text matches its record, and that the numbers of each
 * writer have no gaps. Throws `StoreError`.
 */
export async function verifyHour(proof: HourCheck): Promise<HourResult> {
  const { store, hour, onLost } = proof;
  const merged = await readMergedHour(store, hour);
  const { records, last } = merged;
  for (const { key, detail } of unresolvedFaults(merged)) onLost(key, detail);
  const segments = await Array.fromAsync(listSegments(store, hour));
  const isCovered = coveredNumbers(records).has;
  for (const segment of records.length === 0 ? [] : segments)
    if (segment.isLate && !isCovered(segment))
      onLost(segment.key, 'it appeared after its hour was merged; transcript-receiver merge --all merges it');
  for (const gap of coveredNumbers([...records, { segments }]).gaps())
    onLost(LEDGER_FOLDER + hour, describeLost({ hour, ...gap }));
  const sizes = new Map(segments.map(({ key, size }) => [key, size]));
  for (const record of records) await verifyRecord(proof, record, sizes);
  const previous = records.find((record) => record.previous !== null)?.previous ?? null;
  return { objects: segments.length + records.length, exists: segments.length + last > 0, previous };
}

/** Reads a merged object to its end, and compares it with its record and with the segments that still exist. */
async function verifyRecord(
  { store, deep, onLost }: HourCheck,
  record: MergeRecord,
  sizes: ReadonlyMap<string, number>,
): Promise<void> {
  const whole = createHash('sha256');
  try {
    for await (const { segment, content, text } of readMergedSegments(store, record)) {
      whole.update(text);
      const key = segmentKey({ ...segment, hour: record.hour });
      const size = sizes.get(key);
      if (size === undefined) continue;
      const own = deep && size === content.length ? await fetchSegment(store, key) : null;
      if (size !== content.length || own?.content.equals(content) === false)
        onLost(key, 'it differs from its merged hour');
    }
  } catch (error) {
    if (!(error instanceof MergedHourError)) throw error;
    return onLost(error.key, error.detail);
  }
  if (whole.digest('hex') !== record.sha256)
    onLost(record.object, 'its text is not the one that its record names');
}

/** Whether a segment or a record of an hour exists. Throws `StoreError`. */
export async function hourExists(store: ObjectStore, hour: string): Promise<boolean> {
  for await (const _ of listSegments(store, hour)) return true;
  return (await readMergedHour(store, hour)).last > 0;
}
