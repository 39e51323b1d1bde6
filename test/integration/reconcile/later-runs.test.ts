import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eraseJob } from '../../../src/operations/actions/erase/erase-job.js';
import { reconcile } from '../../../src/recovery/reconcile/reconcile.js';
import type { RecoveryReport } from '../../../src/recovery/reconcile/report/recovery-report.js';
import {
  CALLBACK_URL,
  type RecoveryFixture,
  recoveryFixture,
} from '../../support/recovery/recovery-fixture.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** One in the morning, UTC. */
const BEGIN = Math.floor((Date.now() - 120 * HOUR) / (24 * HOUR)) * 24 * HOUR + HOUR;

let fixture: RecoveryFixture;

describe('after a complete run', () => {
  const NONE = { matched: 0, recovered: 0, conflict: 0, pending: 0, unrecoverable: 0, failed: 0 };
  const JSON_HEADERS = { contentType: 'application/json', metadata: {} };
  let looks: string[];

  /** Records which artefacts the store is asked for. */
  async function begin(): Promise<RecoveryFixture> {
    looks = [];
    fixture = await recoveryFixture({
      wrapStore: (store) => ({
        ...store,
        head: (key) => {
          if (key.startsWith('jobs/')) looks.push(key);
          return store.head(key);
        },
      }),
    });
    return fixture;
  }

  /** A run so many hours after the beginning. */
  function runAt(hours: number, options: Parameters<typeof reconcile>[1] = {}, parts = fixture.parts) {
    looks = [];
    return reconcile({ ...parts, clock: () => BEGIN + hours * HOUR }, options);
  }

  const lostAt = (hours: number, entry: Parameters<RecoveryFixture['lose']>[0] = {}) =>
    fixture.lose(entry, { createdAt: BEGIN + hours * HOUR });
  const transcriptOf = (jobId: string) => `jobs/${jobId}/transcript.json`;

  afterEach(() => fixture.close());

  describe('a run after a complete one', () => {
    it('lists what was created since, and a quarter of an hour before', async () => {
      await begin();
      await lostAt(-1);
      const before = await lostAt(-0.2);
      expect((await runAt(0)).outcomes).toEqual({ ...NONE, recovered: 2 });
      const since = await lostAt(0.5);
      expect((await runAt(1)).outcomes).toEqual({ ...NONE, matched: 1, recovered: 1 });
      expect([...new Set(looks)].sort()).toEqual([before, since].map(transcriptOf).sort());
    });

    it('lists the whole window once a day, and finds what was deleted here', async () => {
      const { store } = await begin();
      const lost = await lostAt(-1);
      await runAt(0);
      await store.delete(transcriptOf(lost));
      expect((await runAt(22)).outcomes).toEqual(NONE);
      expect((await runAt(23)).outcomes).toEqual({ ...NONE, recovered: 1 });
      expect((await runAt(24)).outcomes).toEqual(NONE);
    });

    it('lists all again for new expectations', async () => {
      const { parts } = await begin();
      const elsewhere = await lostAt(-1, { url: CALLBACK_URL.replace('default', 'legal') });
      expect(await runAt(0)).toMatchObject({ outcomes: NONE, ignored: 1 });
      expect(await runAt(1)).toMatchObject({ outcomes: NONE, ignored: 0 });
      const sources = { ...parts.sources, legal: { contents: ['transcript'], keyPrefix: 'legal/' } };
      const report = await runAt(2, {}, { ...parts, sources });
      expect(report.jobs).toMatchObject([{ jobId: elsewhere, outcome: 'recovered' }]);
      expect((await runAt(3, {}, { ...parts, sources })).outcomes).toEqual(NONE);
    });

    it('goes back as far as it is asked to', async () => {
      await begin();
      const lost = await lostAt(-15);
      await runAt(0);
      await fixture.store.delete(transcriptOf(lost));
      const dry = await runAt(1, { since: new Date(0), dryRun: true });
      expect(dry.jobs).toMatchObject([{ jobId: lost, outcome: 'pending' }]);
      expect((await runAt(1)).outcomes).toEqual(NONE);
      expect((await runAt(1, { since: new Date(0) })).outcomes).toEqual({ ...NONE, recovered: 1 });
    });

    it('takes up what was left open, however old it is', async () => {
      const { simulator } = await begin();
      const failing = await lostAt(-9);
      const running = await lostAt(-9);
      const gone = await lostAt(-9);
      simulator.setStatus(running, 'running');
      simulator.setStatus(gone, 'deleted');
      simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 500, jobId: failing });
      const open = { ...NONE, pending: 1, unrecoverable: 1, failed: 1 };
      for (const hours of [0, 1, 2]) expect((await runAt(hours)).outcomes).toEqual(open);
      simulator.faults.clear();
      simulator.setStatus(running, 'done');
      expect((await runAt(3)).outcomes).toEqual({ ...NONE, recovered: 2, unrecoverable: 1 });
      expect((await runAt(4)).outcomes).toEqual({ ...NONE, unrecoverable: 1 });
      await fixture.store.create(transcriptOf(gone), Buffer.from('{"imported":1}'), JSON_HEADERS);
      expect((await runAt(5)).outcomes).toEqual({ ...NONE, matched: 1 });
      expect((await runAt(6)).outcomes).toEqual(NONE);
    });

    it('asks the service nothing of what it cannot give, and reports that until it leaves the window', async () => {
      const { simulator, parts, store } = await begin();
      const gone = await lostAt(-9);
      const erased = await lostAt(-9);
      for (const id of [gone, erased]) simulator.setStatus(id, 'deleted');
      await runAt(0);
      const asked = simulator.faults.add({ kind: 'answer', operation: 'record', status: 500 });
      const erasing = { store, keyPrefixes: [''], sleep: async () => {}, ledger: parts.ledger };
      await eraseJob(erasing, erased, { actor: 'ada', reason: null });
      expect(await runAt(1)).toMatchObject({
        outcomes: { ...NONE, matched: 1, unrecoverable: 1 },
        jobs: [{ jobId: gone, items: [{ key: transcriptOf(gone), outcome: 'unrecoverable' }] }],
        faults: [],
      });
      expect((await runAt(25)).outcomes).toEqual({ ...NONE, matched: 1, unrecoverable: 1 });
      expect((await runAt(30)).outcomes).toEqual({ ...NONE, unrecoverable: 1 });
      expect((await runAt(50)).outcomes).toEqual(NONE);
      expect(simulator.faults.list().find(({ name }) => name === asked)?.struck ?? 0).toBe(0);
    });

    it('does not ask for a job by its id because an older report has it as failed', async () => {
      const { simulator, store } = await begin();
      const id = await lostAt(-1);
      simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 500 });
      expect((await runAt(0)).outcomes).toEqual({ ...NONE, failed: 1 });
      await store.create(transcriptOf(id), Buffer.from('{}'), JSON_HEADERS);
      expect((await runAt(1)).outcomes).toEqual({ ...NONE, matched: 1 });
      expect((await runAt(2)).outcomes).toEqual(NONE);
      expect(looks).toEqual([]);
    });
  });

  describe('a report', () => {
    it('lists the first thousand of the pending jobs that the next run lists, and all older ones', async () => {
      const { simulator } = await begin();
      const old = await lostAt(-0.3);
      simulator.setStatus(old, 'running');
      const young = await Promise.all(Array.from({ length: 1005 }, (_, n) => lostAt(-0.2 + n / 1e5)));
      for (const id of young) simulator.setStatus(id, 'running');
      const report = await runAt(0);
      expect(report.outcomes).toEqual({ ...NONE, pending: 1006 });
      expect(report.jobs).toHaveLength(1001);
      expect(report.jobs.at(-1)?.jobId).toBe(old);
      // The last of them are not in the report.
      for (const id of [old, ...young.slice(0, 5), ...young.slice(-5)]) simulator.setStatus(id, 'done');
      expect((await runAt(1)).outcomes).toEqual({ ...NONE, pending: 995, recovered: 11 });
    });
  });
});

describe('after a pause', () => {
  const HOUR = 3_600_000;

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

  it('a run that was interrupted does not move the beginning of the next, and nobody can pass over jobs', async () => {
    await runAt(0);
    const jobId = await lostAt(5);
    const stop = new AbortController();
    stop.abort();
    await runAt(60, { signal: stop.signal });
    const { jobs } = await runAt(61, { since: new Date(BEGIN + 60 * HOUR) });
    expect(jobs).toMatchObject([{ jobId, outcome: 'recovered' }]);
  });
});
