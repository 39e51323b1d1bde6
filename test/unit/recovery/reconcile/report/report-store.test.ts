import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reconcileReportKey } from '../../../../../src/archive/layout.js';
import type {
  RecoveredJob,
  RecoveryReport,
} from '../../../../../src/recovery/reconcile/report/recovery-report.js';
import {
  readEarlierReports,
  storeReport,
} from '../../../../../src/recovery/reconcile/report/report-store.js';
import { type RecoveryFixture, recoveryFixture } from '../../../../support/recovery/recovery-fixture.js';
import { createMemoryStore, type MemoryStore } from '../../../../support/store/memory-store.js';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-03-04T12:00:00.000Z');
const BOTH = ['eu1', 'us1'];

let fixture: RecoveryFixture;
let store: MemoryStore;
let expectations: string;

beforeEach(async () => {
  fixture = await recoveryFixture();
  store = createMemoryStore();
  expectations = (await read()).expectations;
  store.calls.length = 0;
});

afterEach(() => fixture.close());

const at = (time: number) => new Date(time).toISOString();
const keyAt = (time: number) => reconcileReportKey(at(time));

/** Stores the report of a run that began so many hours ago. */
function putReport(hours: number, report: Partial<RecoveryReport>): void {
  const window = { since: at(0), until: at(NOW - hours * HOUR) };
  store.put(keyAt(NOW - hours * HOUR), JSON.stringify({ window, expectations, jobs: [], ...report }));
}

function job(jobId: string, outcome: RecoveredJob['outcome'], region = 'eu1'): RecoveredJob {
  return { jobId, region, outcome, reason: null, items: [] };
}

const read = () => readEarlierReports({ ...fixture.parts, store }, NOW);
const completeUntil = async () => Object.fromEntries((await read()).completeUntil);
const reportsRead = () => store.calls.filter(({ operation }) => operation === 'read').length;

describe('storing a report', () => {
  const report = { startedAt: at(NOW), faults: [] } as unknown as RecoveryReport;

  it('takes the next free millisecond, of ten', async () => {
    for (let n = 0; n < 10; n += 1) expect(await storeReport(store, report)).toBe(report);
    const expected = Array.from({ length: 10 }, (_, n) => keyAt(NOW + n));
    expect([...store.objects.keys()]).toEqual(expected);
    expect(await storeReport(store, report)).toMatchObject({
      faults: [
        {
          region: null,
          reason: expect.stringMatching(
            /the report was not stored: .*10 reports of this moment exist already/,
          ),
        },
      ],
    });
    expect(store.objects.size).toBe(10);
  });
});

describe('the earlier reports', () => {
  it('are read until one left nothing out of each region, fifty at most', async () => {
    for (let hours = 1; hours <= 60; hours += 1) putReport(hours, { regions: hours === 2 ? ['eu1'] : [] });
    expect(await completeUntil()).toEqual({ eu1: NOW - 2 * HOUR });
    expect(reportsRead()).toBe(50);
    putReport(9, { regions: BOTH });
    store.calls.length = 0;
    expect(await completeUntil()).toEqual({ eu1: NOW - 2 * HOUR, us1: NOW - 9 * HOUR });
    expect(reportsRead()).toBe(9);
  });

  it('reach back as far as the service keeps results', async () => {
    putReport(7 * 24, { regions: BOTH });
    putReport(8 * 24, { regions: BOTH });
    expect(await completeUntil()).toEqual({});
    expect(reportsRead()).toBe(0);
  });

  it('do not say that a region is complete until a time that is yet to come', async () => {
    putReport(2, { regions: BOTH });
    putReport(-1, { regions: BOTH, jobs: [job('a', 'failed')] });
    expect(await completeUntil()).toEqual({ eu1: NOW - 2 * HOUR, us1: NOW - 2 * HOUR });
    expect([...(await read()).open.keys()]).toEqual(['a']);
  });

  it('hold the last result of each job that is still open, but of none that a later complete run left out', async () => {
    putReport(6, { regions: BOTH, jobs: [job('old', 'failed')] });
    putReport(5, { jobs: [job('a', 'failed'), job('b', 'failed', 'us1'), job('c', 'failed')] });
    putReport(4, { regions: ['eu1'], jobs: [job('c', 'failed'), job('d', 'failed')] });
    putReport(3, { jobs: [job('c', 'pending'), job('d', 'recovered')] });
    const { open } = await read();
    expect([...open.values()]).toEqual([job('c', 'pending'), job('b', 'failed', 'us1')]);
  });

  it('count for complete only with the same expectations', async () => {
    putReport(3, { regions: ['eu1'] });
    putReport(2, { regions: BOTH, expectations: 'others', jobs: [job('a', 'failed')] });
    expect(await completeUntil()).toEqual({ eu1: NOW - 3 * HOUR });
    expect([...(await read()).open.keys()]).toEqual(['a']);
    const others = await readEarlierReports(
      { ...fixture.parts, store, publicUrl: 'https://else.example' },
      NOW,
    );
    expect(others.expectations).not.toBe(expectations);
    expect(others.completeUntil.size).toBe(0);
  });

  it.each([
    ['is not JSON', '{"window":{"until":"2026-'],
    ['has no jobs', JSON.stringify({ window: { until: at(NOW) }, regions: BOTH })],
    ['has other jobs', JSON.stringify({ window: { until: at(NOW) }, regions: BOTH, jobs: 'many' })],
    ['has no window', JSON.stringify({ regions: BOTH, jobs: [] })],
    ['has no time', JSON.stringify({ window: { until: 'noon' }, regions: BOTH, jobs: [] })],
  ])('say nothing where one %s', async (_name, text) => {
    putReport(2, { regions: BOTH, jobs: [job('a', 'failed')] });
    store.put(keyAt(NOW - HOUR), text.replace('"regions"', `"expectations":"${expectations}","regions"`));
    expect(await completeUntil()).toEqual({ eu1: NOW - 2 * HOUR, us1: NOW - 2 * HOUR });
    expect([...(await read()).open.values()]).toEqual([job('a', 'failed')]);
  });

  it('say nothing of a report that is deleted before it is read', async () => {
    const gone = keyAt(NOW - HOUR);
    store = createMemoryStore((operation, key) => {
      if (operation === 'read' && key === gone) store.objects.delete(gone);
    });
    putReport(1, { regions: BOTH });
    putReport(2, { regions: ['eu1'] });
    expect(await completeUntil()).toEqual({ eu1: NOW - 2 * HOUR });
  });
});
