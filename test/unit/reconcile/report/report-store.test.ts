import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reconcileReportKey } from '../../../../src/archive/layout.js';
import type { RecoveredJob, RecoveryReport } from '../../../../src/reconcile/report/recovery-report.js';
import { readEarlierReports, storeReport } from '../../../../src/reconcile/report/report-store.js';
import { type RecoveryFixture, recoveryFixture } from '../../../support/recovery/recovery-fixture.js';
import { createMemoryStore, type MemoryStore } from '../../../support/store/memory-store.js';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-03-04T12:00:00.000Z');
const BOTH = ['eu1', 'us1'];

let fixture: RecoveryFixture;
let store: MemoryStore;

beforeEach(async () => {
  fixture = await recoveryFixture();
  store = createMemoryStore();
});

afterEach(() => fixture.close());

const at = (time: number) => new Date(time).toISOString();
const keyAt = (time: number) => reconcileReportKey(at(time));

/** Stores the report of a run that began so many hours ago. */
function putReport(hours: number, report: Partial<RecoveryReport>): void {
  const window = { since: at(0), until: at(NOW - hours * HOUR) };
  store.put(keyAt(NOW - hours * HOUR), JSON.stringify({ window, jobs: [], ...report }));
}

function job(jobId: string, outcome: RecoveredJob['outcome'], region = 'eu1'): RecoveredJob {
  return { jobId, region, outcome, reason: null, items: [] };
}

const read = () => readEarlierReports({ ...fixture.parts, store }, NOW);
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
            /the report was not stored: .*10 reports of this moment are there already/,
          ),
        },
      ],
    });
    expect(store.objects.size).toBe(10);
  });
});

describe('the earlier reports', () => {
  it('include at least five, and older ones until one left nothing out of each region', async () => {
    for (let hours = 1; hours <= 60; hours += 1) putReport(hours, { regions: hours === 2 ? ['eu1'] : [] });
    expect((await read()).lookedUntil('us1')).toBeNull();
    expect(reportsRead()).toBe(50);
    putReport(9, { regions: BOTH });
    store.calls.length = 0;
    const earlier = await read();
    expect(earlier.lookedUntil('eu1')).toBe(NOW - 2 * HOUR);
    expect(earlier.lookedUntil('us1')).toBe(NOW - 9 * HOUR);
    expect(reportsRead()).toBe(9);
    putReport(1, { regions: BOTH });
    store.calls.length = 0;
    await read();
    expect(reportsRead()).toBe(5);
  });

  it('reach back as far as the service keeps results', async () => {
    putReport(7 * 24, { regions: BOTH });
    putReport(8 * 24, { regions: BOTH });
    expect((await read()).lookedUntil('eu1')).toBeNull();
    expect(reportsRead()).toBe(0);
  });

  it('hold each outcome, and the last result of a job that is still open', async () => {
    putReport(4, { jobs: [job('a', 'failed'), job('b', 'failed'), job('c', 'pending')] });
    putReport(3, { jobs: [job('a', 'pending'), job('b', 'recovered')] });
    const { hasOutcome, open } = await read();
    expect(open).toEqual([job('a', 'pending'), job('c', 'pending')]);
    expect(hasOutcome('b', 'failed')).toBe(true);
    expect(hasOutcome('b', 'recovered')).toBe(true);
    expect(hasOutcome('b', 'pending')).toBe(false);
  });

  it('hold no open job that a later run without limits left out of its region', async () => {
    putReport(5, { jobs: [job('a', 'failed'), job('b', 'failed', 'us1'), job('c', 'failed')] });
    putReport(4, { limited: false, regions: ['eu1'], jobs: [job('c', 'failed')] });
    putReport(3, { limited: true, regions: ['us1'], jobs: [] });
    const { hasOutcome, open } = await read();
    expect(open).toEqual([job('c', 'failed'), job('b', 'failed', 'us1')]);
    expect(hasOutcome('a', 'failed')).toBe(true);
  });

  it('say when the whole window was listed, for the same expectations', async () => {
    const { expectations } = (await read()).wholeWindow;
    putReport(3, { wholeWindow: { expectations, at: { eu1: at(NOW - 9 * HOUR), us1: at(NOW - 3 * HOUR) } } });
    putReport(2, { wholeWindow: { expectations: 'others', at: { eu1: at(NOW - HOUR) } } });
    putReport(1, { wholeWindow: { expectations, at: { eu1: at(NOW - 5 * HOUR) } } });
    const listed = { eu1: at(NOW - 5 * HOUR), us1: at(NOW - 3 * HOUR) };
    expect((await read()).wholeWindow).toEqual({ expectations, at: listed });
    const others = { ...fixture.parts, store, publicUrl: 'https://elsewhere.example' };
    expect((await readEarlierReports(others, NOW)).wholeWindow.at).toEqual({});
  });

  it.each([
    ['is not JSON', '{"window":{"until":"2026-'],
    ['has no jobs', JSON.stringify({ window: { until: at(NOW) }, regions: BOTH })],
    ['has other jobs', JSON.stringify({ window: { until: at(NOW) }, regions: BOTH, jobs: 'many' })],
    ['has no window', JSON.stringify({ regions: BOTH, jobs: [] })],
    ['has no time', JSON.stringify({ window: { until: 'noon' }, regions: BOTH, jobs: [] })],
  ])('say nothing where one %s', async (_name, text) => {
    putReport(2, { regions: BOTH, jobs: [job('a', 'failed')] });
    store.put(keyAt(NOW - HOUR), text);
    const { lookedUntil, open } = await read();
    expect(BOTH.map(lookedUntil)).toEqual([NOW - 2 * HOUR, NOW - 2 * HOUR]);
    expect(open).toEqual([job('a', 'failed')]);
  });

  it('say nothing of a report that is deleted before it is read', async () => {
    const gone = keyAt(NOW - HOUR);
    store = createMemoryStore((operation, key) => {
      if (operation === 'read' && key === gone) store.objects.delete(gone);
    });
    putReport(1, { regions: BOTH });
    putReport(2, { regions: ['eu1'] });
    const { lookedUntil } = await read();
    expect(BOTH.map(lookedUntil)).toEqual([NOW - 2 * HOUR, null]);
  });
});
