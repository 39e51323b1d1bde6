import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { LedgerOrigin } from '../../../../src/domain/delivery.js';
import { compactHour } from '../../../../src/ledger/compact/compact-hour.js';
import { ledgerPartition } from '../../../../src/ledger/ledger-keys.js';
import type { DeliveryQuery } from '../../../../src/ledger-view/delivery-query.js';
import { createLedgerView } from '../../../../src/ledger-view/ledger-view.js';
import { linesOf } from '../../../support/ledger/compacted-ledger.js';
import { storeAt } from '../../../support/ledger/compaction-fixture.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import {
  collectPages,
  drawnLine,
  FIRST,
  historyQuery,
  identityOf,
  iso,
  lineOf,
  matchesQuery,
  NOW,
  newestFirst,
  putAll,
  putLines,
} from '../../../support/ledger/random-ledger.js';
import type { MemoryStore } from '../../../support/store/memory-store.js';

const HOUR_FOLDERS = ['05', '06', '07'].map((hour) => `dt=2026-03-04/hour=${hour}/`);

/** Compacts hours into files of a few lines each. */
async function compactHours(
  store: MemoryStore,
  hours: readonly string[],
  keepsSegments: boolean,
): Promise<void> {
  for (const hour of hours) {
    const parts = { store, clock: () => NOW, closedAfter: 0, keepSegments: null, fileBytes: 2000 };
    await compactHour(parts, hour);
    for (const key of [...store.objects.keys()]) {
      if (!keepsSegments && key.startsWith(`ledger/${hour}`)) store.objects.delete(key);
    }
  }
}

const compaction = fc.record({
  hours: fc.subarray(HOUR_FOLDERS),
  keepsSegments: fc.boolean(),
});
const settings = fc.record({
  pageTime: fc.constantFrom(0, 2000),
  maxIndexBytes: fc.constantFrom(1000, 1_000_000),
  indexChunk: fc.constant(4),
  windowMs: fc.constant(3_600_000),
});

describe('pages of compacted hours', () => {
  it('together show what sorting and filtering all lines would show, also of hours compacted between two pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(drawnLine, { maxLength: 40 }),
        fc.array(drawnLine, { maxLength: 10 }),
        fc.tuple(compaction, compaction),
        historyQuery,
        fc.integer({ min: 1, max: 9 }),
        settings,
        async (all, afterwards, [before, between], query, limit, options) => {
          const store = storeAt(NOW);
          const lines = putAll(store, all);
          await compactHours(store, before.hours, before.keepsSegments);
          for (const line of afterwards.map(lineOf)) {
            putLines(store, NOW, [line]);
            lines.push(line);
          }
          const view = createLedgerView({ store, clock: () => NOW, ...options });
          await view.refresh();
          let pages = 0;
          const shown = await collectPages(view, { ...query, limit }, async () => {
            pages += 1;
            if (pages === 2) await compactHours(store, between.hours, between.keepsSegments);
          });
          expect(shown).toEqual(newestFirst(lines.filter((line) => matchesQuery(line, query))));
        },
      ),
      { numRuns: 12 },
    );
  });

  const spoil: Record<string, (store: MemoryStore, key: string) => void> = {
    missing: (store, key) => store.objects.delete(key),
    damaged: (store, key) => store.put(key, 'not what it was'),
  };
  const kinds = Object.keys(spoil).flatMap((how) =>
    ['ledger-parquet/', 'rollups/'].map((folder) => ({ how, folder })),
  );

  it.each(kinds)('read the segments where a file of $folder is $how', async ({ how, folder }) => {
    const { store, lines } = await compactedHour();
    const key = [...store.objects.keys()].filter((name) => name.startsWith(folder)).at(1) ?? '';
    spoil[how]?.(store, key);
    const view = createLedgerView({ store, clock: () => NOW, windowMs: 3_600_000 });
    await view.refresh();
    const page = await view.deliveries({ until: iso(NOW), limit: 500 });
    expect(page.deliveries.map(identityOf)).toEqual(newestFirst(lines));
    expect(page.faults).toEqual([expect.stringContaining(key)]);
  });

  it.each(['missing', 'damaged'])('say so when a file is %s and its segments are gone', async (how) => {
    const { store } = await compactedHour();
    const keys = [...store.objects.keys()];
    const key = keys.find((name) => name.startsWith('ledger-parquet/')) ?? '';
    for (const name of keys) if (name.startsWith('ledger/')) store.objects.delete(name);
    spoil[how]?.(store, key);
    const view = createLedgerView({ store, clock: () => NOW, windowMs: 3_600_000 });
    await view.refresh();
    const page = await view.deliveries({ until: iso(NOW), limit: 500 });
    expect(page.deliveries.length).toBeGreaterThan(0);
    expect(page.faults).toEqual([expect.stringContaining(key)]);
  });

  it('find the context in a file of a version that has no column for it', async () => {
    const { store } = await compactedHour();
    const file = await readFile('test/support/ledger/compacted-before-context.parquet');
    const [key = ''] = [...store.objects.keys()].filter((name) => name.startsWith('ledger-parquet/'));
    await store.delete(key);
    await store.create(key, file, { contentType: 'application/vnd.apache.parquet', metadata: {} });
    for (const name of [...store.objects.keys()]) {
      if (name.startsWith('ledger/')) store.objects.delete(name);
      if (name.startsWith('rollups/')) {
        const rollup = JSON.parse(store.objects.get(name)?.body.toString() ?? '');
        if (rollup.parquet.key !== key) {
          store.objects.delete(name);
          store.objects.delete(rollup.parquet.key);
        } else {
          const lines = await linesOf(store, key);
          const [firstReceivedAt, lastReceivedAt] = [lines[0]?.receivedAt, lines.at(-1)?.receivedAt];
          const extent = { rows: lines.length, firstReceivedAt, lastReceivedAt };
          store.put(name, JSON.stringify({ ...rollup, ...extent, parquet: { key, bytes: file.length } }));
        }
      }
    }
    const view = createLedgerView({ store, clock: () => NOW, windowMs: 3_600_000 });
    await view.refresh();
    const found = async (query: DeliveryQuery) =>
      (await view.deliveries({ until: iso(NOW), ...query })).deliveries.map(({ jobId, context }) => [
        jobId,
        context,
      ]);
    expect(await found({ context: 'call:8' })).toEqual([['job3', { call: '8' }]]);
    expect(await found({ job: 'job1' })).toEqual([['job1', undefined]]);
    expect(await found({})).toHaveLength(3);
  });

  it('list no segments and open no file that cannot match', async () => {
    const { store } = await compactedHour();
    const view = createLedgerView({ store, clock: () => NOW, windowMs: 3_600_000 });
    await view.refresh();
    store.calls.length = 0;
    const query: DeliveryQuery = { until: iso(NOW), outcome: 'unrecoverable' };
    expect(await view.deliveries(query)).toMatchObject({ deliveries: [], nextCursor: null });
    const isRead = ({ operation, key }: { operation: string; key: string }) =>
      operation === 'read' && key.startsWith('ledger-parquet/');
    expect(store.calls.filter(isRead)).toEqual([]);
    expect(await view.deliveries({ until: iso(NOW), job: 'job-7' })).toMatchObject({
      deliveries: [{ jobId: 'job-7' }],
    });
    expect(
      store.calls.filter(({ operation, key }) => operation === 'read' && key.startsWith('ledger/')),
    ).toEqual([]);
  });

  it("open no file that holds nothing but operators' acts for a client without them", async () => {
    const { store, lines } = await compactedHour('replay');
    const view = createLedgerView({ store, clock: () => NOW, windowMs: 3_600_000 });
    await view.refresh();
    store.calls.length = 0;
    const query = { until: iso(NOW), limit: 500 };
    expect(await view.deliveries({ ...query, without: 'acts' })).toMatchObject({
      deliveries: [],
      nextCursor: null,
    });
    expect(store.calls.filter(({ key }) => key.endsWith('.parquet'))).toEqual([]);
    expect((await view.deliveries(query)).deliveries).toHaveLength(lines.length);
  });
});

async function compactedHour(origin: LedgerOrigin = 'callback') {
  const store = storeAt(NOW);
  const lines = Array.from({ length: 30 }, (_, n) =>
    ledgerLine({ receivedAt: iso(FIRST + n * 100), jobId: `job-${n}`, origin }),
  );
  for (const line of lines) putLines(store, Date.parse(line.receivedAt), [line]);
  await compactHours(store, [ledgerPartition(iso(FIRST)).slice('ledger/'.length)], true);
  return { store, lines };
}
