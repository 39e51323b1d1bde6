import { describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { compact } from '../../../../src/ledger/compact/compact.js';
import { StoreError } from '../../../../src/store/object-store.js';
import { listKeys, readCompactedLedger, sortedTexts } from '../../../support/ledger/compacted-ledger.js';
import { fillHour, MORNING, partsOf, storeAt } from '../../../support/ledger/compaction-fixture.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../support/ledger/ledger-segments.js';
import type { MemoryStore } from '../../../support/store/memory-store.js';

/** Objects of a store other than segments, with their content. */
function written(store: MemoryStore): Map<string, string> {
  const others = [...store.objects].filter(([key]) => !key.startsWith('ledger/'));
  return new Map(others.map(([key, { body }]) => [key, body.toString('base64')]));
}

async function expectExactlyOnce(store: MemoryStore, lines: readonly LedgerLine[]): Promise<void> {
  const compacted = await readCompactedLedger(store);
  expect(sortedTexts(compacted.lines)).toEqual(sortedTexts(lines));
  expect(compacted.covered.toSorted()).toEqual([...new Set(compacted.covered)].sort());
  expect(compacted.leftOver).toEqual([]);
}

describe('compact', () => {
  it('writes the lines of closed hours into a Parquet file and a rollup each', async () => {
    const store = storeAt();
    const lines = [...fillHour(store, '2026-03-03T23'), ...fillHour(store, '2026-03-04T04')];

    const report = await compact(partsOf(store));

    expect(report).toMatchObject({
      hours: 2,
      files: 2,
      lines: 30,
      segments: 10,
      faults: [],
      oldestOpen: null,
    });
    expect([...written(store).keys()].sort()).toEqual([
      '.compaction/state.json',
      'ledger-parquet/dt=2026-03-03/hour=23/0001.parquet',
      'ledger-parquet/dt=2026-03-04/hour=04/0001.parquet',
      'rollups-daily/dt=2026-03-03/0001.json',
      'rollups/dt=2026-03-03/hour=23/0001.json',
      'rollups/dt=2026-03-04/hour=04/0001.json',
    ]);
    await expectExactlyOnce(store, lines);
  });

  it('leaves open hours alone', async () => {
    const store = storeAt();
    const closed = fillHour(store, '2026-03-04T11');
    fillHour(store, '2026-03-04T12');
    const soon = Date.parse('2026-03-04T12:19:59Z');
    expect(await compact(partsOf(store, { now: soon }))).toMatchObject({ hours: 0, oldestOpen: null });
    expect(await compact(partsOf(store))).toMatchObject({ hours: 1, oldestOpen: null });
    await expectExactlyOnce(store, closed);
  });

  it('splits an hour into files of bounded size', async () => {
    const store = storeAt();
    const lines = fillHour(store, '2026-03-04T04', 7);
    const segment = [...store.objects.values()][0]?.body.length ?? 0;
    expect(await compact(partsOf(store, { fileBytes: 2.5 * segment }))).toMatchObject({ hours: 1, files: 4 });
    await expectExactlyOnce(store, lines);
  });

  it('changes and writes nothing when it runs again', async () => {
    const store = storeAt();
    fillHour(store, '2026-03-02T23');
    fillHour(store, '2026-03-04T04');
    await compact(partsOf(store));
    const before = written(store);
    store.calls.length = 0;
    for (const since of [undefined, new Date(0)]) {
      expect(await compact(partsOf(store), { since })).toMatchObject({
        hours: 0,
        files: 0,
        days: 0,
        faults: [],
      });
    }
    expect(written(store)).toEqual(before);
    const writes = ['create', 'replace', 'startUpload'];
    expect(store.calls.filter(({ operation }) => writes.includes(operation))).toEqual([]);
  });

  it('makes at most ten store calls before its work, however long the ledger is', async () => {
    const store = storeAt();
    for (const day of ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02', '2026-03-03']) {
      for (let hour = 10; hour < 24; hour += 1) fillHour(store, `${day}T${hour}`, 1);
    }
    for (let hour = 0; hour < 10; hour += 1) fillHour(store, `2026-03-04T0${hour}`, 1);
    await compact(partsOf(store));
    store.calls.length = 0;
    await compact(partsOf(store, { now: MORNING + 60_000 }));
    expect(store.calls.map(({ operation }) => operation)).toEqual(['read', ...Array(6).fill('folders')]);

    fillHour(store, '2026-03-05T00', 1);
    for (let hour = 10; hour < 24; hour += 1) fillHour(store, `2026-03-04T${hour}`, 1);
    const isWhole = Date.parse('2026-03-05T00:25:00Z');
    await compact(partsOf(store, { now: isWhole }));
    store.calls.length = 0;
    await compact(partsOf(store, { now: isWhole + 3_600_000 }));
    const ofHour = store.calls.findIndex(({ key }) => key.includes('dt=2026-03-05/hour=00/'));
    expect(ofHour).toBe(10);
  });

  it.each([2, 4])('shares the work between %d processes at once', async (processes) => {
    for (let round = 0; round < 3; round += 1) {
      const store = storeAt(MORNING, () => new Promise((resolve) => setTimeout(resolve, Math.random() * 2)));
      const lines = ['2026-03-02T23', '2026-03-04T03', '2026-03-04T04'].flatMap((hour) =>
        fillHour(store, hour, 8),
      );
      const parts = partsOf(store, { fileBytes: 4000 });

      const reports = await Promise.all(
        Array.from({ length: processes }, () => compact(parts, { since: new Date(0) })),
      );
      await compact(parts, { since: new Date(0) });

      expect(reports.flatMap(({ faults }) => faults)).toEqual([]);
      await expectExactlyOnce(store, lines);
      const { daily } = await readCompactedLedger(store);
      expect([...daily.keys()]).toEqual(['rollups-daily/dt=2026-03-02/0001.json']);
    }
  });

  it('finishes the plan of a process that died after ten minutes, and leaves that of a live one', async () => {
    const store = storeAt();
    const lines = fillHour(store, '2026-03-04T04');
    const stopped = new AbortController();
    const dying = createStoreThatStops(store, '.compaction/dt=2026-03-04/hour=04/plan.json', stopped);
    const parts = partsOf(store);
    const first = await compact({ ...parts, store: dying }, { signal: stopped.signal });
    expect(first).toMatchObject({ interrupted: true, files: 0, oldestOpen: '2026-03-04T04:00:00.000Z' });

    const soon = await compact(partsOf(store, { now: MORNING + 599_999 }));
    expect(soon).toMatchObject({ files: 0, inProgress: 1, oldestOpen: '2026-03-04T04:00:00.000Z' });
    const later = await compact(partsOf(store, { now: MORNING + 600_000 }));
    expect(later).toMatchObject({ files: 1, inProgress: 0, oldestOpen: null });
    await expectExactlyOnce(store, lines);
  });

  it('sums up a day whose hours are compacted, once', async () => {
    const store = storeAt();
    fillHour(store, '2026-03-02T00');
    fillHour(store, '2026-03-02T23');
    fillHour(store, '2026-03-04T00');
    expect(await compact(partsOf(store))).toMatchObject({ hours: 3, days: 1 });
    expect(await compact(partsOf(store), { since: new Date(0) })).toMatchObject({ hours: 0, days: 0 });
    const { daily } = await readCompactedLedger(store);
    expect([...daily.keys()]).toEqual(['rollups-daily/dt=2026-03-02/0001.json']);
    expect([...daily.values()][0]?.slots.map(({ start }) => new Date(start).toISOString())).toEqual([
      '2026-03-02T00:00:00.000Z',
      '2026-03-02T23:00:00.000Z',
    ]);
  });

  it('counts what it cannot read and never stops at it', async () => {
    const store = storeAt();
    const lines = fillHour(store, '2026-03-04T04', 2);
    const folder = 'ledger/dt=2026-03-04/hour=04/';
    const good = ledgerLine({ receivedAt: '2026-03-04T04:30:00.000Z' });
    const written = Date.parse('2026-03-04T04:33:00Z');
    putSegment(store, '2026-03-04T04:31:00Z', ['{"v":1,', JSON.stringify(good), '[]']);
    putSegment(store, '2026-03-04T04:32:00Z', [JSON.stringify({ ...good, v: 2 })]);
    store.put(`${folder}x~00000001.ndjson`, '', written);
    store.put(`${folder}x~00000002.ndjson`, '\n\n', written);
    store.put(`${folder}below/x.ndjson`, 'no line');
    store.put(`${folder}notes.txt`, 'not ours');
    store.put('ledger/dt=2026-03-04/hour=xx/foreign.ndjson', 'not ours');
    store.put('ledger/foreign/x.ndjson', 'not ours');
    store.objects.set(`${folder}x~00000003.ndjson`, {
      headers: { contentType: 'text/plain', metadata: {} },
      modifiedAt: new Date(MORNING),
      body: Buffer.alloc(65 * 1024 * 1024),
    });

    const report = await compact(partsOf(store));

    expect(report).toMatchObject({ hours: 1, lines: 7, broken: 5, newer: 1 });
    expect(report.faults).toHaveLength(4);
    expect(report.faults.map(({ reason }) => reason)).toContain(
      `${folder}x~00000001.ndjson has lines that cannot be read`,
    );
    await expectExactlyOnce(store, [...lines, good]);
    expect(await compact(partsOf(store))).toMatchObject({ files: 0, faults: [] });
  });

  it('names a lost number, a segment that was lost since, and an hour of which a rollup is lost', async () => {
    const store = storeAt();
    fillHour(store, '2026-03-04T03');
    const lines = fillHour(store, '2026-03-04T04');
    store.objects.delete('ledger/dt=2026-03-04/hour=04/r~00000002.ndjson');
    const { faults } = await compact(partsOf(store));
    expect(faults).toEqual([
      { hour: 'dt=2026-03-04/hour=04/', reason: 'ledger/dt=2026-03-04/hour=04/ has lost number 2 of r' },
    ]);
    const { rollups, lines: found } = await readCompactedLedger(store);
    expect(sortedTexts(found)).toEqual(expect.arrayContaining(sortedTexts(lines.slice(6))));
    const rollup = rollups.get('rollups/dt=2026-03-04/hour=04/0001.json');
    expect(rollup).toMatchObject({
      n: 1,
      files: 1,
      previous: 'dt=2026-03-04/hour=03/',
      writers: {
        r: [
          [1, 1],
          [3, 5],
        ],
      },
      rows: 12,
      first: '2026-03-04T04:00:05.000Z',
      last: '2026-03-04T04:04:05.000Z',
    });
    store.objects.delete('rollups/dt=2026-03-04/hour=04/0001.json');
    const parquet = 'ledger-parquet/dt=2026-03-04/hour=04/0001.parquet';
    const again = await compact(partsOf(store), { since: new Date(0) });
    expect(again.faults.map(({ reason }) => reason)).toEqual([
      `read: ${parquet} is not a readable ledger file: it has no rollup`,
    ]);
  });

  it('covers an hour in which no line can be read', async () => {
    const store = storeAt();
    const key = putSegment(store, '2026-03-04T04:31:00Z', ['damaged']);
    const faults = [{ hour: 'dt=2026-03-04/hour=04/', reason: `${key} has lines that cannot be read` }];
    expect(await compact(partsOf(store))).toMatchObject({ files: 1, lines: 0, broken: 1, faults });
    expect(await listKeys(store, 'ledger-parquet/')).toEqual([]);
    expect(await compact(partsOf(store))).toMatchObject({ files: 0 });
  });

  it('completes after any single store call failed, and never has a wrong result', async () => {
    const count = await countCalls();
    expect(count).toBeGreaterThan(40);
    for (let failing = 1; failing <= count; failing += 1) {
      let call = 0;
      const store = storeAt(MORNING, (operation) => {
        call += 1;
        if (call === failing) throw new StoreError(operation, 'timed out');
      });
      const lines = fillBoth(store);
      const parts = partsOf(store, { fileBytes: 4000, planTimeout: 0 });
      expect((await compact(parts)).faults).toHaveLength(1);
      const seen = sortedTexts((await readCompactedLedger(store)).lines);
      expect(new Set(seen).size).toBe(seen.length);
      expect(await compact(parts)).toMatchObject({ faults: [], inProgress: 0 });
      await expectExactlyOnce(store, lines);
      expect((await readCompactedLedger(store)).daily.size).toBe(1);
    }
  });

  it('completes after a response of the store was lost', async () => {
    for (let failing = 1; ; failing += 1) {
      let call = 0;
      const store = storeAt();
      const lines = fillBoth(store);
      const parts = partsOf(store, { fileBytes: 4000, planTimeout: 0 });
      const lossy: MemoryStore = {
        ...store,
        async create(key, body, headers) {
          const result = await store.create(key, body, headers);
          call += 1;
          if (call === failing) throw new StoreError('create', 'timed out');
          return result;
        },
      };
      await compact({ ...parts, store: lossy });
      expect(await compact(parts)).toMatchObject({ faults: [], inProgress: 0 });
      await expectExactlyOnce(store, lines);
      if (call < failing) break;
    }
  });

  it('gives up on a store that fails every time', async () => {
    const store = storeAt(MORNING, (operation, key) => {
      if (operation === 'read' && key.startsWith('ledger/')) throw new StoreError('read', 'timed out');
    });
    for (let hour = 10; hour < 24; hour += 1) fillHour(store, `2026-03-03T${hour}`, 1);
    const { faults, oldestOpen } = await compact(partsOf(store));
    expect(faults).toHaveLength(6);
    expect(faults.at(-1)).toEqual({ hour: null, reason: 'compact: 5 hours failed in a row' });
    expect(oldestOpen).toBe('2026-03-03T10:00:00.000Z');
  });

  it('keeps an hour open whose file holds other lines than its plan', async () => {
    const store = storeAt();
    const lines = fillHour(store, '2026-03-04T04');
    const stopped = new AbortController();
    const key = 'ledger-parquet/dt=2026-03-04/hour=04/0001.parquet';
    const dying = createStoreThatStops(store, key, stopped);
    await compact({ ...partsOf(store), store: dying }, { signal: stopped.signal });
    const file = store.objects.get(key);
    fillHour(store, '2026-03-04T03');
    await compact(partsOf(store));
    const other = store.objects.get(key.replace('hour=04', 'hour=03'));
    if (!file || !other) throw new Error('the files are missing');
    store.objects.set(key, other);

    const { faults } = await compact(partsOf(store, { planTimeout: 0 }));
    expect(faults).toEqual([
      {
        hour: 'dt=2026-03-04/hour=04/',
        reason: `compact: ${key} holds other lines than its plan: delete it, and it is written again`,
      },
    ]);
    store.objects.set(key, file);
    expect(await compact(partsOf(store, { planTimeout: 0 }))).toMatchObject({ files: 1, faults: [] });
    expect((await readCompactedLedger(store)).leftOver).toEqual([]);
    expect(sortedTexts((await readCompactedLedger(store)).lines)).toEqual(
      expect.arrayContaining(sortedTexts(lines)),
    );
  });
});

function fillBoth(store: MemoryStore): LedgerLine[] {
  return ['2026-03-02T23', '2026-03-04T03'].flatMap((hour) => fillHour(store, hour, 4));
}

async function countCalls(): Promise<number> {
  const store = storeAt();
  fillBoth(store);
  store.calls.length = 0;
  await compact(partsOf(store, { fileBytes: 4000 }));
  return store.calls.length;
}

/** A view of a store whose user is stopped once it has created an object. */
function createStoreThatStops(store: MemoryStore, key: string, stopping: AbortController): MemoryStore {
  return {
    ...store,
    async create(created, body, headers) {
      const result = await store.create(created, body, headers);
      if (created === key) stopping.abort();
      return result;
    },
  };
}
