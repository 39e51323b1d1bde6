import { beforeEach, describe, expect, it } from '@jest/globals';
import { reconcileReportKey } from '../../../../src/archive/layout.js';
import { createReconcileReportReader } from '../../../../src/operations/health/reconcile-report-reader.js';
import { createMemoryStore, type MemoryStore } from '../../../support/store/memory-store.js';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;
const DENIED = { region: 'eu1', reason: 'answered 401' };

let store: MemoryStore;
let reads: number;
let last: ReturnType<typeof createReconcileReportReader>;
let settled: string[];
let failing: string[];
let asked: unknown[];

beforeEach(() => {
  reads = 0;
  [settled, failing, asked] = [[], [], []];
  store = createMemoryStore((operation) => {
    if (operation === 'read') reads += 1;
  });
  last = createReconcileReportReader(
    store,
    async (query) => {
      asked.push(query);
      const of = (jobs: string[]) => jobs.filter((job) => query.jobs.includes(job));
      return { settled: of(settled), failing: of(failing).length };
    },
    () => NOW,
  );
});

async function report(hoursAgo: number, outcomes: Record<string, number>, more: object = {}): Promise<void> {
  const startedAt = new Date(NOW - hoursAgo * HOUR).toISOString();
  const run = {
    startedAt,
    finishedAt: startedAt,
    outcomes,
    jobs: [],
    ignored: 0,
    faults: [],
  };
  const body = JSON.stringify({ ...run, ...more });
  await store.create(reconcileReportKey(startedAt), Buffer.from(body), {
    contentType: 'application/json',
    metadata: {},
  });
}

describe('the last reconcile', () => {
  it('is null before the first run', async () => {
    expect(await last()).toBeNull();
  });

  it('is the newest complete run whose report is not damaged', async () => {
    await report(3, { matched: 1, failed: 1 });
    await report(2, { matched: 2 }, { ignored: 7 });
    const damages = [
      { jobs: null },
      { jobs: [null] },
      { outcomes: null },
      { faults: ['x'] },
      { startedAt: null },
    ];
    for (const [minutes, damage] of damages.entries()) await report(1 - minutes / 60, { matched: 1 }, damage);
    expect(await last()).toMatchObject({ expected: 2, received: 2, missing: 0, ignored: 7, faults: [] });
    expect(reads).toBe(1 + damages.length);
  });

  it('still counts as missing what a run with faults could not check, and reports the reason', async () => {
    await report(60, { matched: 300, failed: 2 });
    await report(3, {}, { faults: [DENIED] });
    await report(2, {}, { faults: [DENIED, { region: null, reason: 'the run was interrupted' }] });
    const faults = ['eu1: answered 401', 'the run was interrupted'];
    expect(await last()).toMatchObject({ expected: 302, received: 300, missing: 2, faults });
  });

  it('misses no job that was fetched, or whose loss was accepted, since', async () => {
    const jobs = ['one', 'two', 'three'].map((jobId) => ({ jobId, outcome: 'failed' }));
    await report(3, { matched: 300, failed: 3 }, { jobs: [...jobs, { jobId: 'four', outcome: 'pending' }] });
    expect(await last()).toMatchObject({ expected: 303, missing: 3, withoutFailure: 3 });
    settled = ['two', 'four'];
    failing = ['one', 'four'];
    expect(await last()).toMatchObject({ expected: 303, received: 300, missing: 2, withoutFailure: 1 });
    settled = ['one', 'three'];
    failing = [];
    expect(await last()).toMatchObject({ missing: 0, withoutFailure: 0 });
    const since = NOW - 3 * HOUR;
    expect(asked).toEqual([
      { jobs: ['one', 'two', 'three'], since },
      { jobs: ['one', 'two', 'three'], since },
      { jobs: ['one', 'three'], since },
    ]);
  });

  it('is not spoilt by a run that a restart interrupted', async () => {
    const interrupted = { faults: [{ region: null, reason: 'the run was interrupted' }] };
    await report(4, { matched: 1 }, interrupted);
    expect(await last()).toMatchObject({ faults: ['the run was interrupted'] });
    await report(3, { matched: 300 });
    await report(2, { matched: 5, failed: 1 }, interrupted);
    expect(await last()).toMatchObject({ expected: 300, missing: 1, withoutFailure: 1, faults: [] });
    await report(1, {}, { faults: [DENIED] });
    await report(0, {}, interrupted);
    expect(await last()).toMatchObject({ faults: ['eu1: answered 401'] });
  });

  it('is the newest run while no run was complete', async () => {
    await report(3, { failed: 7 }, { faults: [DENIED] });
    await report(2, { matched: 5, failed: 4 }, { faults: [DENIED] });
    expect(await last()).toMatchObject({ expected: 9, missing: 4, faults: ['eu1: answered 401'] });
  });

  it('reads each report once, however long a fault lasts', async () => {
    for (let hour = 300; hour > 0; hour -= 1) await report(hour, {}, { faults: [DENIED] });
    await last();
    const once = reads;
    expect(once).toBeLessThanOrEqual(100);
    await last();
    expect(reads).toBe(once);
  });
});
