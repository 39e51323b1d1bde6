import { readHourFiles } from '../ledger/compact/hour-files.js';
import { LEDGER_FOLDER, LEDGER_PARQUET_FOLDER, ROLLUPS_FOLDER } from '../ledger/ledger-keys.js';
import { type ListedSegment, listSegments } from '../ledger/list-segments.js';
import { LedgerFileError } from '../ledger/parquet/ledger-file-error.js';
import { openLedgerFile } from '../ledger/parquet/open-ledger-file.js';
import { createCoverage, describeGap, findGaps, rangesOf } from '../ledger/rollup/covered-numbers.js';
import type { Rollup, RollupParquet } from '../ledger/rollup/rollup.js';
import type { ObjectStore } from '../store/object-store.js';

/** Called with the key of what is lost or damaged, and why. */
export type OnLost = (key: string, reason: string) => void;

export interface ProvenHour {
  /** Its segments and Parquet files. */
  readonly objects: number;
  /** The last hour before it that has lines; null where nothing names it. */
  readonly previous: string | null;
  /** Lines that its files lack, because they are damaged or of a newer version. */
  readonly broken: number;
  readonly newer: number;
}

/**
 * Looks whether every segment of an hour is there, or in a file that covers it: the numbers of each writer have no gaps. Throws
 * `StoreError`.
 */
export async function proveHour(store: ObjectStore, hour: string, onLost: OnLost): Promise<ProvenHour> {
  const { rollups, isCompacted, faults } = await readHourFiles(store, hour);
  for (const { key, message } of faults) onLost(key, message);
  for (const { parquet } of rollups) if (parquet !== null) await proveFile(store, parquet, onLost);
  const segments: ListedSegment[] = [];
  for await (const segment of listSegments(store, hour)) segments.push(segment);
  if (isCompacted) {
    const isCovered = createCoverage(rollups);
    for (const { key } of segments.filter((segment) => !isCovered(segment)))
      onLost(key, 'it appeared after its hour was compacted: no file has its lines');
  }
  for (const gap of findGaps([rangesOf(segments), ...rollups.map(({ writers }) => writers)])) {
    onLost(LEDGER_FOLDER + hour, describeGap(hour, gap));
  }
  const files = rollups.filter(({ parquet }) => parquet !== null);
  const sum = (field: 'broken' | 'newer') => rollups.reduce((total, rollup) => total + rollup[field], 0);
  return {
    ...{ objects: segments.length + files.length, previous: previousOf(rollups) },
    ...{ broken: sum('broken'), newer: sum('newer') },
  };
}

/** A damaged bloom filter hides jobs, although the rows are sound. */
async function proveFile(store: ObjectStore, parquet: RollupParquet, onLost: OnLost): Promise<void> {
  try {
    await (await openLedgerFile(store, parquet)).rowGroupsOfJobs([]);
  } catch (error) {
    if (!(error instanceof LedgerFileError)) throw error;
    onLost(error.key, error.message);
  }
}

function previousOf(rollups: readonly Rollup[]): string | null {
  return rollups.find(({ previous }) => previous !== null)?.previous ?? null;
}

/** Whether anything of an hour is left. */
export async function isHourLeft(store: ObjectStore, hour: string): Promise<boolean> {
  for (const root of [LEDGER_FOLDER, ROLLUPS_FOLDER, LEDGER_PARQUET_FOLDER]) {
    for await (const _ of store.list(root + hour)) return true;
  }
  return false;
}
