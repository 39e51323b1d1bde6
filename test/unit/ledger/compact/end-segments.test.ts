import { describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { compact } from '../../../../src/ledger/compact/compact.js';
import { readLines } from '../../../../src/ledger/read/log/read-lines.js';
import { StoreError } from '../../../../src/store/object-store.js';
import { listKeys, sortedTexts } from '../../../support/ledger/compacted-ledger.js';
import {
  compacted,
  ENDING,
  fillHour,
  HOUR,
  MORNING,
  PARQUET,
  partsOf,
  readAll,
  storeAt,
} from '../../../support/ledger/compaction-fixture.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../support/ledger/ledger-segments.js';
import type { MemoryStore } from '../../../support/store/memory-store.js';

const DAY = 24 * HOUR;

describe('keepSegments', () => {
  it('deletes nothing when segments are kept forever', async () => {
    const { store } = await compacted();
    store.calls.length = 0;
    const report = await compact(partsOf(store, { now: MORNING + 1000 * DAY }), { since: new Date(0) });
    expect(report).toMatchObject({ deleted: 0, faults: [] });
    expect(store.calls.filter(({ operation }) => operation === 'delete')).toEqual([]);
    expect(await listKeys(store, 'ledger/')).toHaveLength(5);
  });

  it('deletes the segments of compacted hours that ended so long ago, and no others', async () => {
    const { store, lines } = await compacted();
    const later = fillHour(store, '2026-03-04T05');
    await compact(partsOf(store));
    expect(await compact(partsOf(store, { ...ENDING, now: ENDING.now - 1 }))).toMatchObject({ deleted: 0 });
    expect(await compact(partsOf(store, ENDING))).toMatchObject({ deleted: 5, faults: [] });
    expect(await listKeys(store, 'ledger/dt=2026-03-04/hour=04/')).toEqual([]);
    expect(await listKeys(store, 'ledger/dt=2026-03-04/hour=05/')).toHaveLength(5);
    expect(sortedTexts(await readAll(store))).toEqual(sortedTexts([...lines, ...later]));
  });

  it('leaves readers that began before the rollup an hour to read the segments', async () => {
    const { store } = await compacted();
    const ended = { keepSegments: HOUR };
    expect(await compact(partsOf(store, { ...ended, now: MORNING + HOUR - 1 }))).toMatchObject({
      deleted: 0,
    });
    expect(await compact(partsOf(store, { ...ended, now: MORNING + HOUR }))).toMatchObject({ deleted: 5 });
  });

  it('keeps a segment that appeared after its hour was compacted', async () => {
    const { store } = await compacted();
    const late = ledgerLine({ receivedAt: '2026-03-04T04:00:00.000Z' });
    const key = 'ledger/dt=2026-03-04/hour=04/late~00000001.ndjson';
    store.put(key, JSON.stringify(late));
    expect(await compact(partsOf(store, ENDING))).toMatchObject({ deleted: 5 });
    expect(await listKeys(store, 'ledger/')).toEqual([key]);
  });

  it('keeps segments with lines that cannot be read or are of a newer version', async () => {
    const store = storeAt();
    fillHour(store, '2026-03-04T04');
    const good = ledgerLine({ receivedAt: '2026-03-04T04:30:00.000Z' });
    const notUtf8 = putSegment(store, '2026-03-04T04:33:00Z', []);
    const [text = ''] = [JSON.stringify({ ...good, reason: 'Z|rich' })];
    const body = Buffer.from(text, 'latin1');
    body[text.indexOf('|')] = 0xfc;
    const headers = { contentType: 'application/x-ndjson', metadata: {} };
    store.objects.set(notUtf8, { body, headers, modifiedAt: new Date(MORNING) });
    const kept = [
      putSegment(store, '2026-03-04T04:31:00Z', ['{"v":1,', JSON.stringify(good)]),
      putSegment(store, '2026-03-04T04:32:00Z', [JSON.stringify({ ...good, v: 2 })]),
      notUtf8,
      putSegment(store, '2026-03-04T04:34:00Z', []),
    ];
    await compact(partsOf(store));
    const before = await readAll(store);
    expect(await compact(partsOf(store, ENDING))).toMatchObject({ deleted: 5, faults: [] });
    expect(await listKeys(store, 'ledger/')).toEqual(kept.toSorted());
    expect(sortedTexts(await readAll(store))).toEqual(sortedTexts(before));
    expect(await compact(partsOf(store, ENDING))).toMatchObject({ deleted: 0, faults: [] });
  });

  it('keeps segments whose lines are not all in their file', async () => {
    const { store } = await compacted();
    const [key = ''] = await listKeys(store, 'ledger/');
    const segment = store.objects.get(key);
    const text = segment?.body.toString() ?? '';
    store.put(key, text.replace('"bytes":10', '"bytes":11'));
    const { deleted, faults } = await compact(partsOf(store, ENDING));
    expect({ deleted, faults }).toEqual({
      deleted: 0,
      faults: [
        {
          hour: 'dt=2026-03-04/hour=04/',
          reason: `read: ${PARQUET} is not a readable ledger file: it lacks 1 line of its segments, which were kept`,
        },
      ],
    });
    expect(await listKeys(store, 'ledger/')).toHaveLength(5);
  });

  it('never deletes a segment whose file is missing', async () => {
    const { store } = await compacted();
    store.objects.delete(PARQUET);
    const { deleted, faults } = await compact(partsOf(store, ENDING));
    expect({ deleted, faults: faults.length }).toEqual({ deleted: 0, faults: 1 });
  });

  it('completes after any single store call failed', async () => {
    for (let failing = 1; ; failing += 1) {
      const { store, lines } = await compacted();
      let calls = 0;
      const failOnce = (operation: string) => {
        calls += 1;
        if (calls === failing) throw new StoreError(operation, 'timed out');
      };
      const faulty: MemoryStore = {
        ...store,
        async read(...call) {
          failOnce('read');
          return store.read(...call);
        },
        async delete(...call) {
          failOnce('delete');
          await store.delete(...call);
        },
        async *list(...call) {
          failOnce('list');
          yield* store.list(...call);
        },
      };
      const { faults } = await compact({ ...partsOf(store, ENDING), store: faulty });
      if (calls < failing) break;
      expect(faults).toHaveLength(1);
      expect(sortedTexts(await readAll(store))).toEqual(sortedTexts(lines));
      expect(await compact(partsOf(store, ENDING))).toMatchObject({ faults: [] });
      expect(await listKeys(store, 'ledger/')).toEqual([]);
      expect(sortedTexts(await readAll(store))).toEqual(sortedTexts(lines));
    }
  });

  it('lets readers find each line once while segments are deleted', async () => {
    for (let pausedAt = 1; pausedAt <= 15; pausedAt += 3) {
      const { store, lines } = await compacted();
      const found: LedgerLine[] = [];
      for await (const line of readLines(store)) {
        found.push(line);
        if (found.length === pausedAt) await compact(partsOf(store, ENDING));
      }
      expect(sortedTexts(found)).toEqual(sortedTexts(lines));
      expect(await listKeys(store, 'ledger/')).toEqual([]);
    }
  });
});
