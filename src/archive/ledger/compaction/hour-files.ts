import { type ListedObject, type ObjectStore, StoreError } from '../../../store/object-store.js';
import { COMPACTION_FOLDER, LEDGER_PARQUET_FOLDER, ROLLUPS_FOLDER } from '../../layout.js';
import { type CompactionPlan, readPlan } from './compaction-plan.js';
import { readRollup } from './read-rollup.js';

/** A plan whose rollup is missing: its file is being made, or its maker died. */
export interface OpenPlan extends CompactionPlan {
  /** When the store wrote it. */
  readonly createdAt: Date;
}

/** A file with its rollup. */
export interface FinishedFile {
  readonly n: number;
  readonly rollupKey: string;
  readonly finishedAt: Date;
  /** Null when no line of the segments can be read. */
  readonly parquetKey: string | null;
  /** Names of the segments that it covers, without their folder. */
  readonly segments: readonly string[];
  readonly rows: number;
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

/** The files of an hour that have a rollup, by number. Throws `StoreError` for a rollup that cannot be read. */
export async function readFinishedFiles(
  store: ObjectStore,
  hour: string,
  known: FinishedFiles = new Map(),
): Promise<FinishedFile[]> {
  const rollups = await listNumbers(store, `${ROLLUPS_FOLDER}${hour}`, '.json');
  const files: FinishedFile[] = [];
  for (const [n, listed] of rollups) {
    const file = known.get(listed.key) ?? (await readFinishedFile(store, n, listed));
    known.set(listed.key, file);
    files.push(file);
  }
  return files;
}

async function readFinishedFile(store: ObjectStore, n: number, listed: ListedObject): Promise<FinishedFile> {
  const { key, modifiedAt } = listed;
  const rollup = await readRollup(store, key);
  if (rollup === null) throw new StoreError('read', `${key} is no rollup, or one of a newer version`);
  return {
    n,
    rollupKey: key,
    finishedAt: modifiedAt,
    parquetKey: rollup.parquet?.key ?? null,
    segments: rollup.segments,
    rows: rollup.rows,
    unreadable: rollup.broken + rollup.newer,
  };
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
