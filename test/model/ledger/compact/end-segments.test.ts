import { describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { compact } from '../../../../src/ledger/compact/compact.js';
import { readLines } from '../../../../src/ledger/read/read-lines.js';
import { listKeys, sortedTexts } from '../../../support/ledger/compacted-ledger.js';
import { fillHour, HOUR, partsOf, storeAt } from '../../../support/ledger/compaction-fixture.js';
import type { MemoryStore } from '../../../support/store/memory-store.js';

const DAY = 24 * HOUR;
const PARQUET = 'ledger-parquet/dt=2026-03-04/hour=04/0001.parquet';
/** A day after the hour of these tests ended. */
const ENDING = { now: Date.parse('2026-03-05T05:00:00Z'), keepSegments: DAY };

async function readAll(store: MemoryStore): Promise<LedgerLine[]> {
  const lines: LedgerLine[] = [];
  for await (const line of readLines(store)) lines.push(line);
  return lines;
}

/** A store with an hour that was compacted in the morning. */
async function compacted(): Promise<{ store: MemoryStore; lines: LedgerLine[] }> {
  const store = storeAt();
  const lines = fillHour(store, '2026-03-04T04');
  await compact(partsOf(store));
  return { store, lines };
}

describe('keepSegments', () => {
  it('keeps the segments of a damaged file wherever a byte of it was flipped, and reports it', async () => {
    const { store, lines } = await compacted();
    const file = store.objects.get(PARQUET);
    if (!file) throw new Error('the file is missing');
    const segments = await listKeys(store, 'ledger/');
    let harmless = 0;
    for (let at = 0; at < file.body.length; at += 17) {
      const body = Buffer.from(file.body);
      body[at] = (body[at] ?? 0) ^ 0x10;
      store.objects.set(PARQUET, { ...file, body });
      const copy = { ...store, delete: async (key: string) => void deleted.push(key) };
      const deleted: string[] = [];
      const report = await compact({ ...partsOf(store, ENDING), store: copy });
      if (report.faults.length === 0) harmless += 1;
      else expect({ deleted, faults: report.faults.length }).toEqual({ deleted: [], faults: 1 });
      expect(sortedTexts(await readAll(store))).toEqual(sortedTexts(lines));
    }
    // Bytes of the footer that this reader does not look at, e.g. the author's name.
    expect(harmless * 17).toBeLessThan(file.body.length / 6);
    expect(await listKeys(store, 'ledger/')).toEqual(segments);
  });
});
