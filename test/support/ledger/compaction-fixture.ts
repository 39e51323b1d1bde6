import type { LedgerLine } from '../../../src/domain/delivery.js';
import { compact } from '../../../src/ledger/compact/compact.js';
import type { CompactionParts } from '../../../src/ledger/compact/compaction-parts.js';
import { readLines } from '../../../src/ledger/read/log/read-lines.js';
import { type BeforeCall, createMemoryStore, type MemoryStore } from '../store/memory-store.js';
import { ledgerLine } from './ledger-lines.js';
import { putSegment } from './ledger-segments.js';

export const HOUR = 3_600_000;
/** The clock of these tests. */
export const MORNING = Date.parse('2026-03-04T12:30:00Z');
/** The file of the hour of `compacted`, and a day after that hour ended. */
export const PARQUET = 'ledger-parquet/dt=2026-03-04/hour=04/0001.parquet';
export const ENDING = { now: Date.parse('2026-03-05T05:00:00Z'), keepSegments: 24 * HOUR };

/** A store whose objects are written in the morning, unless a test says otherwise. */
export function storeAt(now = MORNING, before?: BeforeCall): MemoryStore {
  return createMemoryStore(before, () => now);
}

interface Given extends Partial<CompactionParts> {
  readonly now?: number;
}

export function partsOf(store: MemoryStore, { now = MORNING, ...more }: Given = {}): CompactionParts {
  return { store, clock: () => now, keepSegments: null, ...more };
}

/** Segments of three lines each in an hour, written one minute after the other. */
export function fillHour(store: MemoryStore, hour: string, segments = 5): LedgerLine[] {
  return Array.from({ length: segments }, (_, minute) => {
    const time = `${hour}:${String(minute).padStart(2, '0')}`;
    const lines = [1, 2, 3].map((second) => ledgerLine({ receivedAt: `${time}:0${second}.000Z`, bytes: 10 }));
    putSegment(store, `${time}:05.000Z`, lines);
    return lines;
  }).flat();
}

export async function readAll(store: MemoryStore): Promise<LedgerLine[]> {
  const lines: LedgerLine[] = [];
  for await (const line of readLines(store)) lines.push(line);
  return lines;
}

/** A store with an hour that was compacted in the morning. */
export async function compacted(): Promise<{ store: MemoryStore; lines: LedgerLine[] }> {
  const store = storeAt();
  const lines = fillHour(store, '2026-03-04T04');
  await compact(partsOf(store));
  return { store, lines };
}
