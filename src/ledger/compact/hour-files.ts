import type { ListedObject, ObjectStore } from '../../store/object-store.js';
import { COMPACTION_FOLDER, LEDGER_PARQUET_FOLDER } from '../ledger-keys.js';
import { type CompactionPlan, readPlan } from './compaction-plan.js';
import { LedgerFileError } from './ledger-file-error.js';
import { listRollups } from './list-rollups.js';
import { readRollup } from './read-rollup.js';
import { extentOf, type FileExtent, parquetKeyOf } from './rollup-extent.js';

/** A plan whose rollup is missing: its file is being made, or its maker died. */
export interface OpenPlan extends CompactionPlan {
  /** When the store wrote it. */
  readonly createdAt: Date;
}

/** A file that counts, and is not being made. */
export interface FinishedFile {
  readonly n: number;
  readonly rollupKey: string;
  readonly finishedAt: Date;
  /** Null when no line of the segments can be read. */
  readonly parquetKey: string | null;
  /** Names of the segments that it covers, without their folder. */
  readonly segments: readonly string[];
  /** What the rollup says of the Parquet file; null without one, and where the rollup is damaged or lost. */
  readonly extent: FileExtent | null;
  /** Lines that are not in the Parquet file. */
  readonly unreadable: number;
}

/** The files of a compacted hour. */
export interface HourFiles {
  readonly finished: readonly FinishedFile[];
  readonly openPlans: readonly OpenPlan[];
  /** Numbers of plans that are left over: their rollup exists. */
  readonly donePlans: readonly number[];
  /** The number of the next file. */
  readonly next: number;
}

/** Rollups never change: files that were read once are not read again. */
export type FinishedFiles = Map<string, FinishedFile>;

/**
 * Reads the files of an hour. The order of the three listings makes it safe beside other processes: a file that is
 * finished meanwhile is seen by its plan or by its rollup, and a Parquet file never without one of them.
 */
export async function readHourFiles(
  store: ObjectStore,
  hour: string,
  known: FinishedFiles = new Map(),
): Promise<HourFiles> {
  const parquet = await listNumbers(store, `${LEDGER_PARQUET_FOLDER}${hour}`, '.parquet');
  const plans = await listNumbers(store, `${COMPACTION_FOLDER}${hour}`, '.json');
  const read = new Map<number, OpenPlan>();
  for (const [n, { modifiedAt }] of plans) {
    const plan = await readPlan(store, hour, n);
    if (plan !== null) read.set(n, { ...plan, createdAt: modifiedAt });
  }
  const finished = await readFinishedFiles(store, hour, known);
  const done = new Set(finished.map(({ n }) => n));
  return {
    finished,
    openPlans: [...read.values()].filter(({ n }) => !done.has(n)),
    donePlans: [...read.keys()].filter((n) => done.has(n)),
    next: 1 + Math.max(0, ...parquet.keys(), ...plans.keys(), ...done),
  };
}

/** Called with a rollup that is damaged or lost. */
export type OnDamaged = (error: LedgerFileError) => void;

/**
 * The files of an hour. Throws `StoreError`, and without `onDamaged` `LedgerFileError` for a damaged rollup. Of a file
 * whose rollup is damaged or lost it is not known which segments it covers.
 */
export async function readFinishedFiles(
  store: ObjectStore,
  hour: string,
  known: FinishedFiles = new Map(),
  onDamaged?: OnDamaged,
): Promise<FinishedFile[]> {
  const { rollups, lost } = await listRollups(store, hour);
  const files: FinishedFile[] = [];
  for (const listed of rollups) {
    const file = known.get(listed.key) ?? (await readFinishedFile(store, listed));
    if (file === null) {
      const error = new LedgerFileError(listed.key, 'it is no rollup of its hour and version');
      if (onDamaged === undefined) throw error;
      onDamaged(error);
    } else {
      known.set(listed.key, file);
    }
    files.push(file ?? unknownFile(listed.key, listed.modifiedAt));
  }
  for (const key of lost) {
    onDamaged?.(lostRollup(key));
    files.push(unknownFile(key, new Date(0)));
  }
  return files;
}

export function lostRollup(key: string): LedgerFileError {
  return new LedgerFileError(key, 'it is missing');
}

async function readFinishedFile(
  store: ObjectStore,
  { key, modifiedAt }: ListedObject,
): Promise<FinishedFile | null> {
  const rollup = await readRollup(store, key);
  if (rollup === null) return null;
  return {
    n: numberOf(key),
    rollupKey: key,
    finishedAt: modifiedAt,
    parquetKey: rollup.parquet?.key ?? null,
    segments: rollup.segments,
    extent: extentOf(rollup),
    unreadable: rollup.broken + rollup.newer,
  };
}

function unknownFile(rollupKey: string, finishedAt: Date): FinishedFile {
  const parquetKey = parquetKeyOf(rollupKey);
  return {
    n: numberOf(rollupKey),
    rollupKey,
    finishedAt,
    parquetKey,
    segments: [],
    extent: null,
    unreadable: 0,
  };
}

function numberOf(rollupKey: string): number {
  return Number(rollupKey.slice(rollupKey.lastIndexOf('/') + 1, -'.json'.length));
}

const FILE_NAME = /^(\d{4,9})(\.[a-z]+)$/;

/** Objects of a folder that are named by a number, in their order. */
async function listNumbers(
  store: ObjectStore,
  folder: string,
  extension: string,
): Promise<Map<number, ListedObject>> {
  const found: [number, ListedObject][] = [];
  for await (const listed of store.list(folder)) {
    const [, digits, end] = FILE_NAME.exec(listed.key.slice(folder.length)) ?? [];
    if (end === extension) found.push([Number(digits), listed]);
  }
  return new Map(found.sort(([a], [b]) => a - b));
}
