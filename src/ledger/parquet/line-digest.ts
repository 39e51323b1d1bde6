import { createHash } from 'node:crypto';
import type { LedgerLine } from '../../domain/delivery.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { Pause } from '../../time/cooperative-yield.js';
import type { RollupParquet } from '../rollup/rollup.js';
import { openLedgerFile } from './open-ledger-file.js';

/** Equal for lines with equal fields in any order, and for no others. */
export function lineDigest(line: LedgerLine): string {
  return createHash('sha256').update(canonicalJson(line)).digest('base64');
}

function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join()}}`;
}

/**
 * Reads a whole Parquet file and calls `onDigest` with the digest of every line. Throws `LedgerFileError` for a file that
 * is damaged or missing, and `StoreError`.
 */
export async function readDigests(
  store: ObjectStore,
  parquet: RollupParquet,
  onDigest: (digest: string) => void,
  pause?: Pause,
): Promise<void> {
  const file = await openLedgerFile(store, parquet);
  for (const index of file.rowGroups.keys()) {
    for (const { line } of await file.readLines(index)) {
      onDigest(lineDigest(line));
      await pause?.();
    }
  }
  // A damaged bloom filter hides jobs.
  await file.rowGroupsOfJobs([]);
}
