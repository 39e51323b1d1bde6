import { buffer } from 'node:stream/consumers';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { openLedgerFile } from '../../../src/ledger/compact/open-ledger-file.js';
import type { DailyRollup, Rollup } from '../../../src/ledger/compact/rollup.js';
import type { ObjectStore } from '../../../src/store/object-store.js';

/** What a bucket reader finds of the compacted ledger: only files that have a rollup. */
export interface CompactedLedger {
  readonly rollups: ReadonlyMap<string, Rollup>;
  readonly daily: ReadonlyMap<string, DailyRollup>;
  readonly lines: readonly LedgerLine[];
  /** Keys of all segments that the rollups name. */
  readonly covered: readonly string[];
  /** Plans, and Parquet files without a rollup. */
  readonly leftOver: readonly string[];
}

export async function readCompactedLedger(store: ObjectStore): Promise<CompactedLedger> {
  const rollups = await readDocuments<Rollup>(store, 'rollups/');
  const lines: LedgerLine[] = [];
  for (const { parquet } of rollups.values()) if (parquet) lines.push(...(await linesOf(store, parquet.key)));
  const files = new Set([...rollups.values()].map(({ parquet }) => parquet?.key));
  const parquet = await listKeys(store, 'ledger-parquet/');
  return {
    rollups,
    daily: await readDocuments<DailyRollup>(store, 'rollups-daily/'),
    lines,
    covered: [...rollups.values()].flatMap(({ hour, segments }) =>
      segments.map((name) => `ledger/${hour}${name}`),
    ),
    leftOver: [...(await listKeys(store, '.compaction/')), ...parquet.filter((key) => !files.has(key))],
  };
}

/** The lines of a Parquet file. */
export async function linesOf(store: ObjectStore, key: string): Promise<LedgerLine[]> {
  const file = await openLedgerFile(store, key);
  const lines: LedgerLine[] = [];
  for (const index of file?.rowGroups.keys() ?? []) lines.push(...((await file?.readLines(index)) ?? []));
  return lines;
}

export async function listKeys(store: ObjectStore, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys;
}

async function readDocuments<T>(store: ObjectStore, prefix: string): Promise<Map<string, T>> {
  const documents = new Map<string, T>();
  for (const key of await listKeys(store, prefix)) {
    const reading = await store.read(key);
    if (reading) documents.set(key, JSON.parse((await buffer(reading.body)).toString()) as T);
  }
  return documents;
}

/** Sorted texts, to compare ledgers as multisets of lines. */
export function sortedTexts(lines: Iterable<LedgerLine>): string[] {
  return [...lines].map((line) => JSON.stringify(line)).sort();
}
