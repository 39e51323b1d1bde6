import { afterEach, describe, expect, it } from '@jest/globals';
import { eraseJob } from '../../../src/operations/actions/erase/erase-job.js';
import { reconcile } from '../../../src/recovery/reconcile/reconcile.js';
import {
  CALLBACK_URL,
  type RecoveryFixture,
  recoveryFixture,
} from '../../support/recovery/recovery-fixture.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NONE = { matched: 0, recovered: 0, conflict: 0, pending: 0, unrecoverable: 0, failed: 0 };
/** One in the morning, UTC. */
const BEGIN = Math.floor((Date.now() - 120 * HOUR) / (24 * HOUR)) * 24 * HOUR + HOUR;
const JSON_HEADERS = { contentType: 'application/json', metadata: {} };

let fixture: RecoveryFixture;
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

  it('goes back as far as the service keeps results where `full` asks for it', async () => {
    await begin();
    const lost = await lostAt(-15);
    await runAt(0);
    await fixture.store.delete(transcriptOf(lost));
    const dry = await runAt(1, { full: true, dryRun: true });
    expect(dry.jobs).toMatchObject([{ jobId: lost, outcome: 'pending' }]);
    expect((await runAt(1)).outcomes).toEqual(NONE);
    expect((await runAt(1, { full: true })).outcomes).toEqual({ ...NONE, recovered: 1 });
  });

  it('takes up what was left open, however old it is', async () => {
    const { simulator } = await begin();
    const [failing, running, gone] = [await lostAt(-9), await lostAt(-9), await lostAt(-9)];
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
    const [gone, erased] = [await lostAt(-9), await lostAt(-9)];
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
