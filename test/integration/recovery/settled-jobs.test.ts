import { afterEach, describe, expect, it } from '@jest/globals';
import { reconcile } from '../../../src/recovery/reconcile.js';
import { eraseJob } from '../../../src/repair/erase-job.js';
import { type ObjectStore, StoreError } from '../../../src/store/object-store.js';
import {
  CALLBACK_URL,
  type RecoveryFixture,
  type RecoveryFixtureOptions,
  recoveryFixture,
} from '../../support/recovery/recovery-fixture.js';

const HOUR = 3_600_000;
const NONE = { matched: 0, recovered: 0, conflict: 0, pending: 0, unrecoverable: 0, failed: 0 };

let fixture: RecoveryFixture;
let looks: string[];

/** A store that records which artefacts it is asked for. */
async function begin(
  options: RecoveryFixtureOptions = {},
  wrap = (store: ObjectStore) => store,
): Promise<RecoveryFixture> {
  looks = [];
  fixture = await recoveryFixture({
    ...options,
    wrapStore: (store) => ({
      ...wrap(store),
      head: (key) => {
        if (key.startsWith('jobs/')) looks.push(key);
        return store.head(key);
      },
    }),
  });
  return fixture;
}

async function looksOf(work: Promise<unknown>): Promise<string[]> {
  const before = looks.length;
  await work;
  return looks.slice(before).sort();
}

async function daysOf(store: ObjectStore): Promise<string[]> {
  const days: string[] = [];
  for await (const folder of store.folders('.settled/')) days.push(folder);
  return days;
}

afterEach(() => fixture.close());

describe('settled jobs', () => {
  it('are not looked at again by any replica, and still count as matched', async () => {
    const { simulator, parts, store, lose } = await begin();
    const recovered = await lose({ contents: ['transcript', 'transcript.txt'] });
    const matched = await lose({}, { region: 'us1' });
    const headers = { contentType: 'application/json', metadata: {} };
    await store.create(`jobs/${matched}/transcript.json`, Buffer.from('{}'), headers);
    await lose({}, { outcome: 'error' });
    await lose({ contents: [] });
    await lose({ url: 'http://127.0.0.1:9/another/receiver' });
    expect((await reconcile(parts)).outcomes).toEqual({ ...NONE, matched: 3, recovered: 1 });
    expect(looks.filter((key) => key.includes(recovered))).toHaveLength(2);
    const requests = simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 500 });
    const again = reconcile({ ...parts });
    expect(await looksOf(again)).toEqual([]);
    expect(await again).toMatchObject({
      outcomes: { ...NONE, matched: 4 },
      ignored: 1,
      jobs: [],
      faults: [],
    });
    expect(simulator.faults.list().find(({ name }) => name === requests)?.struck ?? 0).toBe(0);
  });

  it('are those of which no later look changes the result: failed, pending and unrecoverable ones are looked at again', async () => {
    const { simulator, parts, lose } = await begin();
    const [failing, running, gone, erased] = [await lose(), await lose(), await lose(), await lose()];
    simulator.setStatus(running, 'running');
    simulator.setStatus(gone, 'deleted');
    simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 500, jobId: failing });
    await eraseJob(
      { store: parts.store, keyPrefixes: [''], sleep: async () => {}, ledger: parts.ledger },
      erased,
      {
        actor: 'ada',
        reason: null,
      },
    );
    const outcomes = { ...NONE, matched: 1, pending: 1, unrecoverable: 1, failed: 1 };
    expect((await reconcile(parts)).outcomes).toEqual(outcomes);
    const second = reconcile(parts);
    expect(await looksOf(second)).toEqual([failing, gone].map((id) => `jobs/${id}/transcript.json`).sort());
    expect((await second).outcomes).toEqual(outcomes);
    simulator.faults.clear();
    simulator.setStatus(running, 'done');
    expect((await reconcile(parts)).outcomes).toEqual({
      ...NONE,
      matched: 1,
      recovered: 2,
      unrecoverable: 1,
    });
    const headers = { contentType: 'application/json', metadata: {} };
    await parts.store.create(`jobs/${gone}/transcript.json`, Buffer.from('{"imported":1}'), headers);
    expect((await reconcile(parts)).outcomes).toEqual({ ...NONE, matched: 4 });
    expect(await looksOf(reconcile(parts))).toEqual([]);
  });

  it('are looked at again when another configuration expects more of them', async () => {
    const { parts, lose } = await begin();
    const silent = await lose({}, { notify: [] });
    const other = await lose({ url: CALLBACK_URL.replace('default', 'legal') });
    expect(await reconcile(parts)).toMatchObject({ outcomes: NONE, ignored: 2 });
    const run = (contents: string[]) =>
      reconcile({ ...parts, sources: { default: { contents, keyPrefix: '' } } }, { source: 'default' });
    expect((await run(['transcript'])).outcomes.recovered).toBe(1);
    expect((await run(['transcript', 'transcript.txt'])).jobs).toMatchObject([
      { jobId: silent, outcome: 'recovered', items: [{ kind: 'transcript.txt' }] },
    ]);
    const sources = { ...parts.sources, legal: { contents: ['transcript'], keyPrefix: 'legal/' } };
    expect((await reconcile({ ...parts, sources })).jobs).toMatchObject([
      { jobId: other, outcome: 'recovered' },
    ]);
  });

  it('are looked at again by a full run, which finds what was deleted in the store', async () => {
    const { parts, store, lose } = await begin();
    const id = await lose();
    const kept = await lose();
    await reconcile(parts);
    await store.delete(`jobs/${id}/transcript.json`);
    expect((await reconcile(parts)).outcomes).toEqual({ ...NONE, matched: 2 });
    const dry = await reconcile(parts, { full: true, dryRun: true });
    expect(dry.jobs).toMatchObject([{ jobId: id, outcome: 'pending' }]);
    expect((await reconcile(parts)).outcomes).toEqual({ ...NONE, matched: 2 });
    const full = reconcile(parts, { full: true });
    expect((await looksOf(full)).some((key) => key.includes(kept))).toBe(true);
    expect((await full).outcomes).toEqual({ ...NONE, matched: 1, recovered: 1 });
    expect(await looksOf(reconcile(parts))).toEqual([]);
  });

  it('are saved when a run is interrupted', async () => {
    const { parts, lose } = await begin({ parts: { concurrency: 1 } });
    for (let n = 0; n < 10; n += 1) await lose();
    const stop = new AbortController();
    const settled: string[] = [];
    await reconcile(parts, {
      signal: stop.signal,
      onJob({ jobId }) {
        settled.push(jobId);
        if (settled.length === 3) stop.abort();
      },
    });
    const resumed = reconcile(parts);
    const looked = await looksOf(resumed);
    expect(settled.filter((id) => looked.some((key) => key.includes(id)))).toEqual([]);
    expect((await resumed).outcomes).toMatchObject({
      matched: settled.length,
      recovered: 10 - settled.length,
    });
  });

  it('are not asked for by their id because an older report has them as failed', async () => {
    const { simulator, parts, store, lose } = await begin();
    const id = await lose();
    simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 500 });
    expect((await reconcile(parts)).outcomes).toEqual({ ...NONE, failed: 1 });
    const headers = { contentType: 'application/json', metadata: {} };
    await store.create(`jobs/${id}/transcript.json`, Buffer.from('{}'), headers);
    expect((await reconcile(parts)).outcomes).toEqual({ ...NONE, matched: 1 });
    await reconcile({ ...parts, clock: () => Date.now() + 60 * HOUR });
    // It has left the window.
    expect((await reconcile({ ...parts, clock: () => Date.now() + 61 * HOUR })).outcomes).toEqual(NONE);
  });

  it('are not saved by a dry run', async () => {
    const { parts, lose } = await begin();
    await lose({}, { outcome: 'error' });
    await reconcile(parts, { dryRun: true });
    expect(await daysOf(fixture.store)).toEqual([]);
  });

  it('are looked at again when they could not be saved, and the report says so', async () => {
    const { parts, lose } = await begin({}, (store) => ({
      ...store,
      create: (key, body, headers) => {
        if (key.startsWith('.settled/')) throw new StoreError('create', 'access denied');
        return store.create(key, body, headers);
      },
    }));
    const id = await lose();
    const report = await reconcile(parts);
    expect(report.outcomes.recovered).toBe(1);
    expect(report.faults).toEqual([
      { region: 'eu1', reason: expect.stringMatching(/settled jobs were not saved: .*access denied/) },
    ]);
    expect(await looksOf(reconcile(parts))).toEqual([`jobs/${id}/transcript.json`]);
  });

  it('are forgotten once the service has dropped them', async () => {
    const { parts, store, lose } = await begin();
    await lose();
    await reconcile(parts);
    const folders = () => daysOf(store);
    expect(await folders()).toHaveLength(1);
    await reconcile({ ...parts, clock: () => Date.now() + 150 * HOUR });
    expect(await folders()).toHaveLength(1);
    await reconcile({ ...parts, clock: () => Date.now() + 220 * HOUR }, { regions: ['eu1'] });
    expect(await folders()).toHaveLength(1);
    await reconcile({ ...parts, clock: () => Date.now() + 220 * HOUR });
    expect(await folders()).toEqual([]);
  });
});

describe('a report', () => {
  it('lists the first thousand of the young pending jobs, and all older ones', async () => {
    const { simulator, parts, lose } = await begin();
    const old = await lose({}, { createdAt: Date.now() - 2 * HOUR });
    simulator.setStatus(old, 'running');
    const young = await Promise.all(Array.from({ length: 1005 }, () => lose()));
    for (const id of young) simulator.setStatus(id, 'running');
    const report = await reconcile(parts);
    expect(report.outcomes).toEqual({ ...NONE, pending: 1006 });
    expect(report.jobs).toHaveLength(1001);
    expect(report.jobs.at(-1)?.jobId).toBe(old);
    // The last of them are not in the report.
    for (const id of [old, ...young.slice(0, 5), ...young.slice(-5)]) simulator.setStatus(id, 'done');
    expect((await reconcile(parts)).outcomes).toEqual({ ...NONE, pending: 995, recovered: 11 });
  });
});
