import type { ListedObject, ObjectStore } from '../../store/object-store.js';
import { COMPACTION_FOLDER, LEDGER_PARQUET_FOLDER, ROLLUPS_FOLDER } from '../ledger-keys.js';

export interface ListedRollups {
  /** In the order of their hours and numbers. */
  readonly rollups: readonly ListedObject[];
  /** Keys of rollups that are missing although their Parquet file exists and no plan is left that would finish it. */
  readonly lost: readonly string[];
}

/**
 * Lists the rollups of an hour or of a day. A file that another process finishes meanwhile is never taken for one whose
 * rollup is lost: its plan ends after its rollup exists.
 *
 * @param folder below the folders of the compacted ledger, e.g. `dt=2026-03-04/` or `dt=2026-03-04/hour=05/`
 */
export async function listRollups(store: ObjectStore, folder: string): Promise<ListedRollups> {
  const [files, first] = await Promise.all([
    listFiles(store, LEDGER_PARQUET_FOLDER, folder),
    listFiles(store, ROLLUPS_FOLDER, folder),
  ]);
  const alone = [...files.keys()].filter((name) => !first.has(name));
  if (alone.length === 0) return { rollups: [...first.values()], lost: [] };
  const plans = await listFiles(store, COMPACTION_FOLDER, folder);
  const rollups = await listFiles(store, ROLLUPS_FOLDER, folder);
  const lost = alone.filter((name) => !plans.has(name) && !rollups.has(name));
  return { rollups: [...rollups.values()], lost: lost.map((name) => `${ROLLUPS_FOLDER}${name}.json`) };
}

const FILE = /^(dt=\d{4}-\d\d-\d\d\/hour=\d\d\/)(\d{4,9})\.(?:json|parquet)$/;

/** Objects by what their keys have in common, in the order of their hours and numbers. */
async function listFiles(
  store: ObjectStore,
  root: string,
  folder: string,
): Promise<Map<string, ListedObject>> {
  const found: { hour: string; n: number; name: string; listed: ListedObject }[] = [];
  for await (const listed of store.list(root + folder)) {
    const [, hour, digits] = FILE.exec(listed.key.slice(root.length)) ?? [];
    if (hour === undefined || digits === undefined) continue;
    found.push({ hour, n: Number(digits), name: `${hour}${digits}`, listed });
  }
  found.sort((a, b) => (a.hour === b.hour ? a.n - b.n : a.hour < b.hour ? -1 : 1));
  return new Map(found.map(({ name, listed }) => [name, listed]));
}
