import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { erasureKey } from '../../../../../src/archive/layout.js';
import { settlesBodies } from '../../../../../src/domain/quarantined-body.js';
import { refetch } from '../../../../../src/recovery/reconcile/fetch/refetch.js';
import { StoreError } from '../../../../../src/store/object-store.js';
import { ledgerOf, visibleKeys } from '../../../../support/ledger/ledger-of.js';
import { type RecoveryFixture, recoveryFixture } from '../../../../support/recovery/recovery-fixture.js';

const SOURCES = {
  default: { contents: ['transcript', 'transcript.txt'], keyPrefix: '' },
  legal: { contents: ['data'], keyPrefix: 'legal/' },
};
const UNKNOWN = 'no configured region knows this job';

const HOUR = 3_600_000;

let fixture: RecoveryFixture;

beforeEach(async () => {
  fixture = await recoveryFixture();
});

afterEach(() => fixture.close());

describe('refetching a job', () => {
  it('that no region knows reports what is missing of it, and nothing when all is here', async () => {
    const parts = { ...fixture.parts, sources: SOURCES };
    const jobId = 'unknown-job';
    const result = { jobId, region: null, outcome: 'unrecoverable', reason: UNKNOWN };
    expect(await refetch(parts, { jobId })).toEqual({ ...result, items: [] });
    const key = `jobs/${jobId}/transcript.json`;
    await fixture.store.create(key, Buffer.from('{}'), { contentType: 'application/json', metadata: {} });
    expect(await refetch(parts, { jobId, source: 'default' })).toEqual({
      ...result,
      items: [{ kind: 'transcript.txt', key: `jobs/${jobId}/transcript.txt`, outcome: 'unrecoverable' }],
    });
    expect(await refetch(fixture.parts, { jobId })).toMatchObject({ outcome: 'matched' });
  });

  it('that no region knows has failed when the store does not say what is here', async () => {
    const store = {
      ...fixture.store,
      head: async () => {
        throw new StoreError('head', 'access denied');
      },
    };
    expect(await refetch({ ...fixture.parts, store }, { jobId: 'unknown-job' })).toEqual({
      jobId: 'unknown-job',
      region: null,
      outcome: 'failed',
      reason: `${UNKNOWN}; the store failed: head: access denied`,
      items: [],
    });
  });

  it('that was erased misses nothing, whatever the service knows of it', async () => {
    const erase = (jobId: string) =>
      fixture.store.create(erasureKey(jobId), Buffer.from('{}'), { contentType: 'x/y', metadata: {} });
    const expired = await fixture.lose();
    fixture.simulator.setStatus(expired, 'expired');
    const kept = await fixture.lose();
    fixture.simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 500 });
    for (const jobId of ['unknown-job', expired, kept]) {
      await erase(jobId);
      expect(await refetch(fixture.parts, { jobId })).toMatchObject({
        outcome: 'matched',
        reason: expect.stringMatching(/^erased here/),
        items: [],
      });
    }
    fixture.simulator.faults.add({ kind: 'answer', operation: 'record', status: 503 });
    expect(await refetch(fixture.parts, { jobId: expired })).toMatchObject({ outcome: 'matched' });
    expect(await ledgerOf(fixture.folder)).toEqual([]);
    const byEntries = { jobId: 'unknown-job', selectedBy: 'list' } as const;
    expect(await refetch(fixture.parts, byEntries)).toMatchObject({ outcome: 'failed' });
  });

  it('of a complete job leaves a line that settles its quarantined bodies', async () => {
    const jobId = await fixture.lose({ contents: ['transcript'] });
    await refetch(fixture.parts, { jobId });
    const before = await ledgerOf(fixture.folder);
    expect(await refetch(fixture.parts, { jobId, dryRun: true })).toMatchObject({ outcome: 'matched' });
    expect(await ledgerOf(fixture.folder)).toEqual(before);
    expect(await refetch(fixture.parts, { jobId, actor: 'ops' })).toMatchObject({ outcome: 'matched' });
    const [line, ...others] = (await ledgerOf(fixture.folder)).slice(before.length);
    expect(others).toEqual([]);
    expect(line).toMatchObject({ jobId, outcome: 'duplicate', origin: 'recovery', region: 'eu1', items: [] });
    expect(line && settlesBodies(line)).toBe('refetched');
  });

  it('names each region that could not be asked', async () => {
    fixture.simulator.faults.add({ kind: 'answer', operation: 'record', status: 503 });
    expect(await refetch(fixture.parts, { jobId: 'unknown-job' })).toEqual({
      jobId: 'unknown-job',
      region: null,
      outcome: 'failed',
      reason: expect.stringMatching(/eu1.*503.*; .*us1.*503/),
      items: [],
    });
  });

  it('leaves alone what has expired, unless it is fetched again', async () => {
    const contents = ['transcript', 'data'];
    const jobId = await fixture.lose({ contents }, { createdAt: Date.now() - 10 * HOUR });
    const young = await fixture.lose({ contents });
    // As after a sweep whose clock was ahead: the young job is looked after all the same.
    const retained = {
      expiredBefore: async () => (kind: string) => (kind === 'data' ? Date.now() : Number.NEGATIVE_INFINITY),
    };
    const parts = { ...fixture.parts, retention: 5 * HOUR, window: 5 * HOUR, retained };
    expect((await refetch(parts, { jobId: young })).items).toMatchObject([
      {},
      { kind: 'data', outcome: 'created' },
    ]);
    expect(await refetch(parts, { jobId })).toMatchObject({
      outcome: 'recovered',
      items: [{ kind: 'transcript.json-v2', outcome: 'created' }],
    });
    expect(await refetch(parts, { jobId })).toMatchObject({
      outcome: 'expired',
      reason: expect.stringMatching(/expired/),
      items: [{ kind: 'data', outcome: 'expired' }],
    });
    expect(await visibleKeys(fixture.folder, `jobs/${jobId}/`)).toEqual([`jobs/${jobId}/transcript.json`]);
    expect(await refetch(parts, { jobId, again: true })).toMatchObject({ outcome: 'recovered' });
    expect(await visibleKeys(fixture.folder, 'jobs/')).toContain(`jobs/${jobId}/data`);
  });

  it('fails when its region asks for a pause between two downloads', async () => {
    const { parts, simulator, lose } = fixture;
    const jobId = await lose({ contents: ['transcript', 'transcript.txt'] });
    simulator.faults.add({
      kind: 'answer',
      operation: 'transcript',
      status: 429,
      headers: { 'retry-after': '3600' },
    });
    expect(await refetch(parts, { jobId })).toEqual({
      jobId,
      region: 'eu1',
      outcome: 'failed',
      reason: expect.stringMatching(/asked for a pause until/),
      items: [],
    });
  });

  it('rejects as its signal says when a call fails because of it', async () => {
    const jobId = await fixture.lose();
    const stop = new AbortController();
    const head = async () => {
      stop.abort();
      throw new StoreError('head', 'the call was ended');
    };
    const parts = { ...fixture.parts, store: { ...fixture.store, head } };
    await expect(refetch(parts, { jobId, signal: stop.signal })).rejects.toThrow('aborted');
  });

  it('rejects as its signal says where nothing was stored', async () => {
    const jobId = await fixture.lose();
    const signal = AbortSignal.abort();
    await expect(refetch(fixture.parts, { jobId, signal })).rejects.toThrow('aborted');
    expect(await ledgerOf(fixture.folder)).toEqual([]);
  });

  it('that is unrecoverable is in the ledger each time', async () => {
    const { parts, simulator, lose, folder } = fixture;
    const jobId = await lose();
    simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 410 });
    for (let n = 0; n < 2; n += 1) await refetch(parts, { jobId });
    expect((await ledgerOf(folder)).map(({ outcome }) => outcome)).toEqual([
      'unrecoverable',
      'unrecoverable',
    ]);
  });
});
