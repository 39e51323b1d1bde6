import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reconcile } from '../../../src/recovery/reconcile/reconcile.js';
import type { RecoveryReport } from '../../../src/recovery/reconcile/report/recovery-report.js';
import { type RecoveryFixture, recoveryFixture } from '../../support/recovery/recovery-fixture.js';

const HOUR = 3_600_000;
/** One in the morning, UTC. */
const BEGIN = Math.floor((Date.now() - 120 * HOUR) / (24 * HOUR)) * 24 * HOUR + HOUR;

let fixture: RecoveryFixture;

beforeEach(async () => {
  fixture = await recoveryFixture();
});

afterEach(() => fixture.close());

/** A run `hours` after the beginning. */
function runAt(hours: number, order: Parameters<typeof reconcile>[1] = {}): Promise<RecoveryReport> {
  return reconcile({ ...fixture.parts, clock: () => BEGIN + hours * HOUR }, order);
}

const lostAt = (hours: number, region = 'eu1') =>
  fixture.lose({}, { region, createdAt: BEGIN + hours * HOUR });

function lookedBack({ window }: RecoveryReport): number {
  return (Date.parse(window.until) - Date.parse(window.since)) / HOUR;
}

describe('after a pause', () => {
  it('a run begins where the last one that left nothing out ended', async () => {
    await runAt(0);
    const jobId = await lostAt(12);
    const report = await runAt(72);
    expect(report.jobs).toMatchObject([{ jobId, outcome: 'recovered' }]);
    expect(lookedBack(report)).toBeGreaterThanOrEqual(72);
    expect(lookedBack(report)).toBeLessThan(74);
    expect(lookedBack(await runAt(73))).toBe(1.25);
    expect(lookedBack(await runAt(94))).toBe(21.25);
    expect(lookedBack(await runAt(95))).toBe(48);
  });

  it('a run looks back as far as the service keeps results, and no further', async () => {
    expect(lookedBack(await runAt(-30))).toBe(168);
    expect(lookedBack(await runAt(150))).toBe(168);
  });

  it('a region that could not be listed is listed from its last complete run on', async () => {
    await runAt(0);
    const jobId = await lostAt(5);
    await lostAt(5, 'us1');
    const down = fixture.simulator.faults.add({
      kind: 'answer',
      operation: 'list',
      region: 'eu1',
      status: 403,
    });
    for (let hours = 10; hours <= 70; hours += 10) {
      expect(await runAt(hours)).toMatchObject({ regions: ['us1'], faults: [{ region: 'eu1' }] });
    }
    fixture.simulator.faults.remove(down);
    const report = await runAt(80);
    expect(report.jobs).toMatchObject([{ jobId, region: 'eu1', outcome: 'recovered' }]);
    // The job of the other region is older than the window, and is not requested again.
    expect(report.outcomes.matched).toBe(0);
    expect(report.regions).toEqual(['eu1', 'us1']);
  });

  it('a run that was interrupted or limited does not move the beginning of the next', async () => {
    await runAt(0);
    const jobId = await lostAt(5);
    const stop = new AbortController();
    stop.abort();
    await runAt(60, { signal: stop.signal });
    await runAt(61, { since: new Date(BEGIN + 60 * HOUR) });
    await runAt(62, { source: 'default', since: new Date(BEGIN + 60 * HOUR) });
    expect((await runAt(64)).jobs).toMatchObject([{ jobId, outcome: 'recovered' }]);
  });

  it('runs of one region each leave nothing out of their region', async () => {
    const failing = await lostAt(-1, 'us1');
    const { faults } = fixture.simulator;
    faults.add({ kind: 'answer', operation: 'transcript', status: 500 });
    for (const hours of [0, 1])
      for (const region of ['eu1', 'us1']) await runAt(hours, { regions: [region] });
    faults.clear();
    const jobId = await lostAt(5, 'us1');
    await runAt(60, { regions: ['eu1'] });
    const report = await runAt(60, { regions: ['us1'] });
    expect(report).toMatchObject({
      limited: true,
      regions: ['us1'],
      jobs: [
        { jobId, outcome: 'recovered' },
        { jobId: failing, outcome: 'recovered' },
      ],
    });
  });
});
