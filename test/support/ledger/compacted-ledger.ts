import { buffer } from 'node:stream/consumers';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { COMPACTION_STATE } from '../../../src/ledger/ledger-keys.js';
import { openLedgerFile } from '../../../src/ledger/parquet/open-ledger-file.js';
import { segmentsIn } from '../../../src/ledger/rollup/covered-numbers.js';
import type { ChartRollup, Rollup, RollupParquet } from '../../../src/ledger/rollup/rollup.js';
import { segmentKey } from '../../../src/ledger/segment-key.js';
import type { ObjectStore } from '../../../src/store/object-store.js';

/** What a bucket reader finds of the compacted ledger: only files that have a rollup. */
export interface CompactedLedger {
  readonly rollups: ReadonlyMap<string, Rollup>;
  readonly daily: ReadonlyMap<string, ChartRollup>;
  readonly lines: readonly LedgerLine[];
  /** Keys of all segments that the rollups name. */
  readonly covered: readonly string[];
  /** Plans, and Parquet files without a rollup. */
  readonly leftOver: readonly string[];
}

export async function readCompactedLedger(store: ObjectStore): Promise<CompactedLedger> {
  const rollups = await readDocuments<Rollup>(store, 'rollups/');
  const lines: LedgerLine[] = [];
  for (const { parquet } of rollups.values()) if (parquet) lines.push(...(await linesOf(store, parquet)));
  const files = new Set([...rollups.values()].map(({ parquet }) => parquet?.key));
  const parquet = await listKeys(store, 'ledger-parquet/');
  const plans = await listKeys(store, '.compaction/');
  return {
    rollups,
    daily: await readDocuments<ChartRollup>(store, 'rollups-daily/'),
    lines,
    covered: [...rollups.values()].flatMap(({ hour, writers }) =>
      [...segmentsIn(writers)].map((place) => segmentKey({ hour, ...place })),
    ),
    leftOver: [
      ...plans.filter((key) => key !== COMPACTION_STATE),
      ...parquet.filter((key) => !files.has(key)),
    ],
  };
}

/** The lines of a Parquet file. */
export async function linesOf(store: ObjectStore, parquet: RollupParquet): Promise<LedgerLine[]> {
  const file = await openLedgerFile(store, parquet);
  const lines: LedgerLine[] = [];
  for (const index of file.rowGroups.keys())
    for (const { line } of await file.readLines(index)) lines.push(line);
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
