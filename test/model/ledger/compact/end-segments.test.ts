import { describe, expect, it } from '@jest/globals';
import { compact } from '../../../../src/ledger/compact/compact.js';
import { listKeys, sortedTexts } from '../../../support/ledger/compacted-ledger.js';
import { compacted, ENDING, PARQUET, partsOf, readAll } from '../../../support/ledger/compaction-fixture.js';

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
