import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../../../src/domain/delivery.js';
import { hourFolder, parquetKey, rollupKey } from '../../../../../src/ledger/ledger-keys.js';
import {
  createLedgerView,
  type LedgerView,
  type LedgerViewOptions,
} from '../../../../../src/ledger/read/ledger-view.js';
import { StoreError } from '../../../../../src/store/object-store.js';
import { putCompacted } from '../../../../support/ledger/compacted-hours.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../../support/ledger/ledger-segments.js';
import { createMemoryStore, type MemoryStore } from '../../../../support/store/memory-store.js';

const NOW = Date.parse('2026-03-24T12:30:00.000Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const iso = (time: number) => new Date(time).toISOString();
const at = (time: number, jobId: string, outcome: string) =>
  ledgerLine({ receivedAt: iso(time), jobId, outcome });

const views: LedgerView[] = [];
async function load(store: MemoryStore, options: Partial<LedgerViewOptions> = {}): Promise<LedgerView> {
  const view = createLedgerView({ store, clock: () => NOW, windowMs: HOUR, ...options });
  views.push(view);
  await view.refresh();
  await view.readPast();
  return view;
}
afterEach(async () => {
  await Promise.all(views.splice(0).map((view) => view.stop()));
});

/** One file for every hour of the lines. */
async function compact(store: MemoryStore, lines: readonly LedgerLine[]): Promise<void> {
  const hours = new Map<string, LedgerLine[]>();
  for (const line of lines) {
    const hour = line.receivedAt.slice(0, 13);
    hours.set(hour, [...(hours.get(hour) ?? []), line]);
  }
  for (const held of hours.values()) await putCompacted(store, held[0]?.receivedAt ?? '', 1, held);
}

const failing = async (view: LedgerView) => {
  await view.readPast();
  const page = await view.openFailures({ limit: 500 });
  return page.failures.map(({ jobId, outcome }) => `${jobId} ${outcome}`).sort();
};
const readsOf = (store: MemoryStore, prefix: string) =>
  store.calls.filter(({ operation, key }) => operation === 'read' && key.startsWith(prefix)).length;

/** What settles a failure, wherever the lines are, is held by the model test of the same name. */
describe('open failures', () => {
  it('leave out, where asked, rejected callbacks that the service still tries', async () => {
    const store = createMemoryStore();
    const refused = (secondsAgo: number, jobId: string, reason: string) => ({
      ...at(NOW - secondsAgo * 1000, jobId, 'refused'),
      reason,
    });
    putSegment(store, iso(NOW - 1000), [
      refused(119, 'restart', 'draining'),
      refused(120, 'outage', 'store-unavailable'),
      refused(1, 'large', 'body-too-large'),
    ]);
    const view = await load(store);
    const ids = async (givenUpBy?: number) =>
      (await view.openFailures({ limit: 9, givenUpBy })).failures.map(({ jobId }) => jobId).sort();
    expect(await ids()).toEqual(['large', 'outage', 'restart']);
    expect(await ids(NOW)).toEqual(['large', 'outage']);
    expect((await view.openFailures({ limit: 9, givenUpBy: NOW })).counts).toEqual({ refused: 2 });
  });

  it('ask the store for no rollup and no file twice', async () => {
    const store = createMemoryStore();
    const lines = [at(NOW - 40 * HOUR, 'lost', 'failed'), at(NOW - 20 * HOUR, 'other', 'stored')];
    await compact(store, lines);
    let now = NOW;
    const view = await load(store, { clock: () => now });
    expect(await failing(view)).toEqual(['lost failed']);
    expect(readsOf(store, 'rollups/')).toBe(2);
    expect(readsOf(store, 'ledger-parquet/')).toBeGreaterThan(0);
    store.calls.length = 0;
    now += 60_000;
    expect(await failing(view)).toEqual(['lost failed']);
    expect(readsOf(store, 'rollups/') + readsOf(store, 'ledger-parquet/')).toBe(0);

    await compact(store, [at(NOW - 10 * HOUR, 'lost', 'stored')]);
    now += 60_000;
    expect(await failing(view)).toEqual([]);
    expect(readsOf(store, 'rollups/')).toBe(1);
  });

  it('of thousands of jobs read nothing but the filters of an hour that has none of these', async () => {
    const store = createMemoryStore();
    const hours = [50, 45, 40].map((ago) => NOW - ago * HOUR);
    const jobs = Array.from({ length: 900 }, (_, index) => `lost${index}`);
    const lost = hours.flatMap((time) => jobs.map((job) => at(time, `${job}-${time}`, 'failed')));
    const others = Array.from({ length: 4096 }, (_, index) => at(NOW - 20 * HOUR, `job${index}`, 'stored'));
    await compact(store, [...lost, ...others]);
    const view = await load(store);
    expect(await view.openFailures({ limit: 1 })).toMatchObject({ counts: { failed: 2700 }, complete: true });
    expect(readsOf(store, `ledger-parquet/${hourFolder(iso(NOW - 20 * HOUR))}`)).toBe(1);
  });

  it('read several files of an hour at once', async () => {
    let [reading, most] = [0, 0];
    const store = createMemoryStore(async (operation, key) => {
      if (operation !== 'read' || !key.startsWith('ledger-parquet/')) return;
      reading += 1;
      most = Math.max(most, reading);
      await immediate();
      reading -= 1;
    });
    await compact(store, [at(NOW - 40 * HOUR, 'lost', 'failed')]);
    const hour = iso(NOW - 20 * HOUR);
    for (const n of [1, 2, 3, 4])
      await putCompacted(store, hour, n, [at(NOW - 20 * HOUR, `job${n}`, 'stored')], { files: 4 });
    expect(await failing(await load(store))).toEqual(['lost failed']);
    expect(most).toBe(4);
  });

  it('keep those that leave memory, and settle them by what comes later', async () => {
    const store = createMemoryStore();
    let now = NOW;
    putSegment(store, iso(NOW), [at(NOW, 'lost', 'failed'), at(NOW, 'settled', 'refused')]);
    const view = await load(store, { maxBytes: 12_000, clock: () => now });
    for (let minute = 1; minute < 20; minute += 1) {
      now = NOW + minute * 60_000;
      const line = minute === 5 ? at(now, 'settled', 'stored') : at(now, `job${minute}`, 'stored');
      putSegment(store, iso(now), [line]);
      await view.refresh();
    }
    expect(view.status().rows).toBeLessThan(15);
    expect(await failing(view)).toEqual(['lost failed']);
    const [lost] = (await view.openFailures({ limit: 1 })).failures;
    expect(lost).toMatchObject({ reason: null, retentionEndsAt: iso(NOW + 7 * DAY) });
  });

  it('are all listed after a night of failures, and none of them once they are settled', async () => {
    const store = createMemoryStore();
    const jobs = Array.from({ length: 12_000 }, (_, index) => `job${index}`);
    const lines = (outcome: string, time: number) => jobs.map((job) => at(time, job, outcome));
    putSegment(store, iso(NOW - 1000), lines('failed', NOW - 1000));
    putSegment(store, iso(NOW), lines('stored', NOW).slice(0, 11_000));
    const page = await (await load(store)).openFailures({ limit: 1 });
    expect(page).toMatchObject({ counts: { failed: 1000 }, complete: true });
  });

  describe('when there are more than memory takes', () => {
    const many = Array.from({ length: 200 }, (_, index) => `job${index}`);
    const reason = 'x'.repeat(2000);
    const last = (page: { failures: readonly { jobId: string | null }[] }) =>
      page.failures.map(({ jobId }) => jobId);

    it('are looked at once others are settled', async () => {
      const store = createMemoryStore();
      let now = NOW;
      const view = await load(store, { maxBytes: 128 * 1024, clock: () => now });
      for (const job of many) {
        now += 1000;
        putSegment(store, iso(now), [{ ...at(now, job, 'failed'), reason }]);
        await view.refresh();
      }
      const lines = many.map((job, index) => ({ ...at(NOW + 1000 * (index + 1), job, 'failed'), reason }));
      now += 2 * HOUR;
      await view.readPast();
      const first = await view.openFailures({ limit: 500 });
      expect(first.failures.length).toBeLessThan(150);
      expect(first.failures.find(({ jobId }) => jobId === 'job1')?.reason).toBe(`${'x'.repeat(500)}…`);
      expect(first.complete).toBe(false);
      expect(first.faults.join()).toContain('ledger.viewMemory');

      await compact(store, lines);
      const listed: (string | null)[] = [];
      for (let round = 0; round < 40; round += 1) {
        now += 60_000;
        await view.refresh();
        await view.readPast();
        const page = await view.openFailures({ limit: 500 });
        if (page.failures.length === 0) break;
        listed.push(...last(page));
        const settling = last(page).map((job) => at(now, job ?? '', 'acknowledged'));
        putSegment(store, iso(now), settling);
      }
      expect([...new Set(listed)].sort()).toEqual([...many].sort());
      now += 60_000;
      await view.readPast();
      expect((await view.openFailures({ limit: 1 })).failures).toEqual([]);
    });

    it('are found at a start where the oldest were settled since', async () => {
      const store = createMemoryStore();
      const failed = many.map((job, index) => ({ ...at(NOW - 40 * HOUR + index, job, 'failed'), reason }));
      const settled = many.slice(0, 195).map((job) => at(NOW - 20 * HOUR, job, 'stored'));
      await compact(store, [...failed, ...settled]);
      const view = await load(store, { maxBytes: 64 * 1024 });
      await view.readPast();
      const page = await view.openFailures({ limit: 500 });
      expect(last(page)).toEqual(many.slice(195));
      expect(page).toMatchObject({ complete: true, faults: [] });
    });

    it('are found beyond those that the rollup of an hour lists', async () => {
      const store = createMemoryStore();
      const jobs = Array.from({ length: 1500 }, (_, index) => `job${index}`);
      const failed = jobs.map((job, index) => at(NOW - 40 * HOUR + index, job, 'failed'));
      const settled = jobs.slice(0, 100).map((job) => at(NOW - 40 * HOUR + 1800, job, 'stored'));
      await compact(store, [...failed, ...settled]);
      const view = await load(store);
      await view.readPast();
      const page = await view.openFailures({ limit: 1 });
      expect(page).toMatchObject({ counts: { failed: 1400 }, complete: true, faults: [] });
    });
  });

  it('are settled by a line that leaves memory while they are searched', async () => {
    let now = NOW;
    let isSlow = false;
    const store = createMemoryStore(async (_, key) => {
      while (isSlow && key.includes('hour=11')) await immediate();
    });
    const failed = at(NOW - 2 * HOUR, 'a', 'failed');
    const recovered = at(NOW - HOUR, 'a', 'recovered');
    for (const line of [failed, recovered]) putSegment(store, line.receivedAt, [line]);
    const view = await load(store, { clock: () => now });

    await compact(store, [failed]);
    isSlow = true;
    now += 11_000;
    const searched = view.readPast();
    while (!view.holds('outcome', 'failed')) await immediate();
    now += 45 * 60_000;
    await view.refresh();
    isSlow = false;
    await searched;
    await compact(store, [recovered]);
    now += 11_000;

    expect(await failing(view)).toEqual([]);
  });

  it('are in doubt until the file of an hour that left memory was read for them', async () => {
    const store = createMemoryStore();
    let now = NOW;
    const lines = [at(NOW, 'retried', 'stored')];
    putSegment(store, iso(NOW), lines);
    const view = await load(store, { maxBytes: 12_000, clock: () => now });
    for (let minute = 1; minute < 30; minute += 1) {
      now = NOW + minute * 60_000;
      const line = at(now, `job${minute}`, 'stored');
      lines.push(line);
      putSegment(store, iso(now), [line]);
      await view.refresh();
    }
    now += 25 * 60_000;
    await compact(store, lines);
    putSegment(store, iso(now + 1), [at(NOW - 1000, 'retried', 'refused')]);
    await view.refresh();
    await view.readPast();
    const { failures, complete } = await view.openFailures({ limit: 1 });
    expect({ complete, count: failures.length }).toEqual({ complete: false, count: 1 });
    now += 11_000;
    expect(await failing(view)).toEqual([]);
  });

  it('name the hours that are neither in memory nor compacted', async () => {
    const store = createMemoryStore();
    const line = at(NOW - 20 * HOUR, 'unknown', 'failed');
    putSegment(store, line.receivedAt, [line]);
    await compact(store, [at(NOW - 30 * HOUR, 'lost', 'failed')]);
    const view = await load(store);
    expect(await failing(view)).toEqual(['lost failed']);
    expect(await view.openFailures({ limit: 1 })).toMatchObject({
      complete: false,
      searchedBackTo: '2026-03-23T17:00:00.000Z',
      faults: ['deliveries from 2026-03-23T16:00:00.000Z to 2026-03-23T17:00:00.000Z'],
    });
  });

  it('name damaged rollups and damaged files', async () => {
    const store = createMemoryStore();
    await compact(store, [at(NOW - 30 * HOUR, 'lost', 'failed'), at(NOW - 20 * HOUR, 'other', 'stored')]);
    const damaged = rollupKey(hourFolder(iso(NOW - 25 * HOUR)), 1);
    store.put(damaged, '{}');
    const file = parquetKey(hourFolder(iso(NOW - 20 * HOUR)), 1);
    store.put(file, 'PAR1PAR1');
    const view = await load(store);
    expect(await failing(view)).toEqual(['lost failed']);
    const { faults, complete } = await view.openFailures({ limit: 1 });
    expect(complete).toBe(false);
    expect(faults.join()).toContain(damaged);
    expect(faults.join()).toContain(file);
  });

  it('are found in an hour that the store failed to read as a whole', async () => {
    let reads = 0;
    const store = createMemoryStore((operation, key) => {
      if (operation !== 'read' || !key.startsWith('rollups/')) return;
      reads += 1;
      // With many failing lines a rollup is read twice.
      if (reads === 2) throw new StoreError('test', 'no route to the store');
    });
    const jobs = Array.from({ length: 11 }, (_, index) => `job${index}`);
    await compact(
      store,
      jobs.map((job) => at(NOW - 30 * HOUR, job, 'failed')),
    );
    const view = await load(store);
    expect(await view.openFailures({ limit: 1 })).toMatchObject({
      counts: { failed: 11 },
      ...{ complete: true, faults: [] },
    });
    expect(reads).toBe(3);
  });

  it('answer with what was found when the store is slow, and go on', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const store = createMemoryStore(async (operation, key) => {
      if (operation === 'read' && key.startsWith('rollups/')) await held;
    });
    await compact(store, [at(NOW - 30 * HOUR, 'lost', 'failed')]);
    putSegment(store, iso(NOW), [at(NOW - 1, 'new', 'refused')]);
    const view = createLedgerView({ store, clock: () => NOW, windowMs: HOUR, patience: 1 });
    views.push(view);
    await view.refresh();
    const page = await view.openFailures({ limit: 10 });
    expect(page.failures.map(({ jobId }) => jobId)).toEqual(['new']);
    expect(page).toMatchObject({
      complete: false,
      faults: ['deliveries before 2026-03-24T11:00:00.000Z'],
    });
    release();
    expect(await failing(view)).toEqual(['lost failed', 'new refused']);
  });

  it('say so when the store fails', async () => {
    let broken = false;
    const store = createMemoryStore((operation) => {
      if (broken && operation === 'folders') throw new Error('no route to the store');
    });
    await compact(store, [at(NOW - 30 * HOUR, 'lost', 'failed')]);
    const view = createLedgerView({ store, clock: () => NOW, windowMs: HOUR });
    views.push(view);
    await view.refresh();
    broken = true;
    await view.readPast();
    expect(await view.openFailures({ limit: 10 })).toMatchObject({
      complete: false,
      faults: [
        'deliveries before 2026-03-24T11:00:00.000Z',
        'what the store did not answer (no route to the store)',
      ],
    });
  });
});
