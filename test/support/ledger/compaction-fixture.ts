import type { LedgerLine } from '../../../src/domain/delivery.js';
import type { CompactionParts } from '../../../src/ledger/compact/compaction-parts.js';
import { type BeforeCall, createMemoryStore, type MemoryStore } from '../store/memory-store.js';
import { ledgerLine } from './ledger-lines.js';
import { putSegment } from './ledger-segments.js';

export const HOUR = 3_600_000;
/** The clock of these tests. */
export const MORNING = Date.parse('2026-03-04T12:30:00Z');

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
