import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { indexInThread } from '../../../src/index/fill/index-in-thread.js';
import { createLedgerView, type LedgerView } from '../../../src/index/ledger-view.js';
import { ledgerLine, NO_REQUEST, newDeliveryId } from '../../../src/ledger/ledger-line.js';
import { eraseJob } from '../../../src/operations/actions/erase/erase-job.js';
import { refetch } from '../../../src/recovery/reconcile/fetch/refetch.js';
import { reconcile } from '../../../src/recovery/reconcile/reconcile.js';
import { StoreError } from '../../../src/store/object-store.js';
import { jobEventOf } from '../../../src/subscribers/job-event.js';
import { ledgerOf } from '../../support/ledger/ledger-of.js';
import { type RecoveryFixture, recoveryFixture } from '../../support/recovery/recovery-fixture.js';

const MINUTE = 60_000;

let fixture: RecoveryFixture;

beforeEach(async () => {
  fixture = await recoveryFixture({
    parts: {
      sources: {
        default: { contents: ['transcript'], context: ['customer'], keyPrefix: '' },
        legal: { contents: ['transcript'], keyPrefix: 'legal/' },
      },
    },
  });
});

const replicas: LedgerView[] = [];

afterEach(async () => {
  for (const view of replicas.splice(0)) await view.stop();
  await fixture.close();
});

const linesOf = async (jobId: string) =>
  (await ledgerOf(fixture.folder)).filter((line) => line.jobId === jobId);

/** What the parts of another replica are: nothing but the store is shared. */
function anotherReplica() {
  const view = createLedgerView({ store: fixture.store, startIndex: indexInThread });
  replicas.push(view);
  return { ...fixture.parts, view };
}

/** The line of a callback that arrived without a body. */
const callback = (jobId: string, outcome: string, more = {}) =>
  fixture.parts.ledger.append(
    ledgerLine({
      ...NO_REQUEST,
      deliveryId: newDeliveryId(),
      receivedAt: new Date().toISOString(),
      origin: 'callback',
      source: 'default',
      region: null,
      jobId,
      status: 'error',
      context: null,
      outcome,
      reason: null,
      items: [],
      bytes: 0,
      durationMs: 0,
      actor: null,
      ...more,
    }),
  );

describe('a job that the service rejected, and whose callback was lost', () => {
  // Rule: Job record: `errors` of a job that failed
  it('is recorded with the status and the context of its callback, and announced as failed', async () => {
    const { parts, lose, store } = fixture;
    const url = 'http://127.0.0.1:9/callbacks/default?customer=acme';
    const jobId = await lose({ url }, { outcome: 'fetch_error' });
    const report = await reconcile(parts);
    expect(report).toMatchObject({ outcomes: { matched: 1 }, recorded: 1, faults: [] });
    const [line, ...others] = await linesOf(jobId);
    expect(others).toEqual([]);
    expect(line).toMatchObject({
      origin: 'recovery',
      source: 'default',
      region: 'eu1',
      status: 'fetch_error',
      outcome: 'noted',
      items: [],
      context: { customer: 'acme' },
      reason: 'the service rejected the job',
    });
    expect(line && jobEventOf(line, store.location)).toMatchObject({
      type: 'transcript-receiver.job.failed.v1',
      data: { jobId, status: 'fetch_error', origin: 'recovery', items: [] },
    });
  });

  it.each([
    ['error', 'error'],
    ['fetch_error', 'fetch_error'],
    ['trim_error', 'trim_error'],
  ])('has the status %s by the words of its record', async (outcome, status) => {
    const jobId = await fixture.lose({}, { outcome });
    await reconcile(fixture.parts);
    expect(await linesOf(jobId)).toMatchObject([{ status }]);
  });

  it('is recorded once, whichever runs, replicas and refetches meet it, at once or one after the other', async () => {
    const { parts, lose } = fixture;
    const jobs = [await lose({}, { outcome: 'error' }), await lose({}, { outcome: 'error' })];
    await Promise.all([
      ...[parts, anotherReplica(), anotherReplica()].map((each) => reconcile(each)),
      ...[parts, anotherReplica()].map((each) => refetch(each, { jobId: jobs[0] ?? '' })),
    ]);
    for (const jobId of jobs) {
      const before = await linesOf(jobId);
      expect(before.filter(({ outcome }) => outcome === 'noted')).toHaveLength(1);
      await reconcile(anotherReplica(), { since: new Date(0) });
      expect(await linesOf(jobId)).toHaveLength(before.length);
      const again = await refetch(anotherReplica(), { jobId, again: true });
      expect(again).toMatchObject({ outcome: 'matched', items: [] });
      expect(again.reason).toMatch(/rejected the job; .*as the ledger records/);
    }
    const noted = (await ledgerOf(fixture.folder)).filter(({ outcome }) => outcome === 'noted');
    expect(noted).toHaveLength(2);
  });

  it('leaves no record behind once the service lists it no longer', async () => {
    const { parts, store, folder, lose } = fixture;
    const old = await lose({}, { outcome: 'error' });
    await reconcile(parts);
    const jobId = await lose({}, { outcome: 'error' });
    const records = async () => {
      const keys: string[] = [];
      for await (const { key } of store.list('.ended/')) keys.push(key);
      return keys.toSorted();
    };
    const [record = ''] = await records();
    const written = (Date.now() - parts.retention - 25 * 60 * MINUTE) / 1000;
    await utimes(join(folder, record), written, written);
    await reconcile(parts, { since: new Date(0), dryRun: true });
    expect(await records()).toEqual([record]);
    const cannotDelete = { ...store, delete: () => Promise.reject(new Error('denied')) };
    const { faults } = await reconcile({ ...parts, store: cannotDelete }, { since: new Date(0) });
    expect(faults).toEqual([]);
    expect(await records()).toContain(record);
    // The simulator lists it all the same: the ledger has its line.
    await reconcile(parts, { since: new Date(0) });
    expect(await records()).toEqual([`.ended/${jobId}/default.json`]);
    await reconcile(parts, { since: new Date(0) });
    expect(await linesOf(old)).toHaveLength(1);
  });

  it('is recorded for each source that should have been called', async () => {
    const notify = ['default', 'legal'].map((name) => ({ url: `http://127.0.0.1:9/callbacks/${name}` }));
    const jobId = await fixture.lose({}, { outcome: 'error', notify });
    await reconcile(fixture.parts);
    await reconcile(fixture.parts, { since: new Date(0) });
    expect((await linesOf(jobId)).map(({ source }) => source).toSorted()).toEqual(['default', 'legal']);
  });

  it('has its jobinfo archived where that is expected, in the line that announces it', async () => {
    const { parts, lose, store } = fixture;
    const jobId = await lose({ contents: ['transcript', 'jobinfo'] }, { outcome: 'error' });
    expect(await reconcile(parts)).toMatchObject({ outcomes: { recovered: 1 } });
    const [line] = await linesOf(jobId);
    const key = `jobs/${jobId}/jobinfo.json`;
    expect(line).toMatchObject({ status: 'error', outcome: 'recovered', items: [{ kind: 'jobinfo', key }] });
    const head = await store.head(key);
    expect(head?.metadata).toMatchObject({ status: 'error', 'delivery-id': line?.deliveryId });
    expect(line && jobEventOf(line, store.location)?.type).toBe('transcript-receiver.job.failed.v1');
    expect(await reconcile(parts, { since: new Date(0) })).toMatchObject({
      outcomes: { matched: 1, recovered: 0 },
    });
    expect(await linesOf(jobId)).toHaveLength(1);
  });

  it('is tried again when its jobinfo could not be fetched, or its line not written', async () => {
    const { parts, lose, simulator } = fixture;
    const jobId = await lose({ contents: ['jobinfo'] }, { outcome: 'error' });
    const down = simulator.faults.add({ kind: 'answer', operation: 'record', status: 503 });
    expect(await reconcile(parts)).toMatchObject({ outcomes: { failed: 1 } });
    simulator.faults.remove(down);
    const append = () => Promise.reject(new StoreError('create', 'access denied'));
    const unwritable = { ...parts, ledger: { ...parts.ledger, append } };
    expect(await reconcile(unwritable)).toMatchObject({ outcomes: { failed: 1 } });
    expect(await linesOf(jobId)).toEqual([]);
    // Another run may be writing the line: it is left alone for five minutes.
    expect(await reconcile(parts)).toMatchObject({ outcomes: { pending: 1 } });
    const later = { ...parts, clock: () => Date.now() + 6 * MINUTE };
    expect((await reconcile(later)).outcomes).toMatchObject({ failed: 0, pending: 0 });
    expect(await linesOf(jobId)).toHaveLength(1);
  });

  it('waits while the service retries its callback, and no longer', async () => {
    const { parts, simulator, lose } = fixture;
    const jobId = await lose({}, { outcome: 'error' });
    const record = simulator.job(jobId);
    const failed = (message: string) => ({ message, timestamp: new Date().toISOString() });
    const retried = { ...record, errors: [failed('Error in sending notification: retrying')] };
    const givenUp = { ...record, errors: [...retried.errors, failed('Sending notification failed')] };
    const listed = (job: unknown) =>
      simulator.faults.add({
        kind: 'answer',
        operation: 'list',
        region: 'eu1',
        status: 200,
        body: { jobs: [job] },
      });
    const patient = { ...parts, grace: 10 * MINUTE };
    const first = listed(retried);
    expect((await reconcile(patient)).jobs).toMatchObject([
      { outcome: 'pending', reason: expect.stringContaining('retrying') },
    ]);
    expect(await linesOf(jobId)).toEqual([]);
    simulator.faults.remove(first);
    listed(givenUp);
    await reconcile(patient);
    expect(await linesOf(jobId)).toMatchObject([
      { reason: 'the service rejected the job; Sending notification failed' },
    ]);
  });

  it('is only counted by a dry run', async () => {
    const jobId = await fixture.lose({}, { outcome: 'error' });
    expect(await reconcile(fixture.parts, { dryRun: true })).toMatchObject({ recorded: 1 });
    expect(await linesOf(jobId)).toEqual([]);
  });

  it.each(['noted', 'stored', 'quarantined'])('is left alone when its callback was %s', async (outcome) => {
    const jobId = await fixture.lose({}, { outcome: 'error' });
    await callback(jobId, outcome);
    for (const options of [{}, { since: new Date(0) }]) {
      const report = await reconcile(fixture.parts, options);
      expect(report).toMatchObject({ outcomes: { matched: 1 } });
      expect(report.recorded).toBe(0);
    }
    expect(await linesOf(jobId)).toHaveLength(1);
  });

  it('is recorded when every callback was refused, which settles that failure', async () => {
    const { parts, lose } = fixture;
    const jobId = await lose({}, { outcome: 'error' });
    await callback(jobId, 'refused', { reason: 'body-too-large' });
    const view = createLedgerView({ store: fixture.store });
    expect(await view.failingJobs()).toEqual(new Set([jobId]));
    await reconcile(parts);
    expect(await view.failingJobs()).toEqual(new Set());
    await view.stop();
  });

  it('is not recorded once it was erased', async () => {
    const { parts, lose, store } = fixture;
    const jobId = await lose({}, { outcome: 'error' });
    const audit = { actor: 'anna', reason: null };
    await eraseJob({ store, keyPrefixes: [''], ledger: parts.ledger, sleep: async () => {} }, jobId, audit);
    expect(await reconcile(parts)).toMatchObject({ outcomes: { matched: 1 } });
    expect((await linesOf(jobId)).map(({ outcome }) => outcome)).toEqual(['erased']);
  });
});

describe.each(['deleted', 'expired'] as const)('a job that is %s, and of which nothing arrived', (status) => {
  it.each([[['transcript']], [[]]])('is unrecoverable once, with contents %j', async (contents) => {
    const { parts, lose, simulator, store } = fixture;
    const jobId = await lose({ contents });
    simulator.setStatus(jobId, status);
    expect(await reconcile(parts)).toMatchObject({ outcomes: { unrecoverable: 1 } });
    for (const each of [parts, anotherReplica()]) await reconcile(each, { since: new Date(0) });
    const lines = await linesOf(jobId);
    expect(lines.filter(({ outcome }) => outcome === 'unrecoverable')).toHaveLength(1);
    expect(lines[0]).toMatchObject({ origin: 'recovery', reason: expect.stringContaining(status) });
    expect(lines[0] && jobEventOf(lines[0], store.location)?.type).toBe('transcript-receiver.job.failed.v1');
  });

  it('is unrecoverable once when several replicas find it at the same time', async () => {
    const jobId = await fixture.lose();
    fixture.simulator.setStatus(jobId, status);
    await Promise.all([fixture.parts, anotherReplica()].map((each) => reconcile(each)));
    expect(await linesOf(jobId)).toHaveLength(1);
  });
});
