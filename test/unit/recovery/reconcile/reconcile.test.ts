import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reconcile } from '../../../../src/recovery/reconcile/reconcile.js';
import { createSpeechClients } from '../../../../src/speech/speech.js';
import { StoreError } from '../../../../src/store/object-store.js';
import { visibleKeys } from '../../../support/ledger/ledger-of.js';
import { type RecoveryFixture, recoveryFixture } from '../../../support/recovery/recovery-fixture.js';

const HOUR = 3_600_000;

let fixture: RecoveryFixture;

beforeEach(async () => {
  fixture = await recoveryFixture();
});

afterEach(() => fixture.close());

/** Lets the service answer in this way; returns how to end that. */
function answer(operation: 'list' | 'record' | 'transcript', status: number, more: Answer = {}): () => void {
  const name = fixture.simulator.faults.add({ kind: 'answer', operation, status, ...more });
  return () => void fixture.simulator.faults.remove(name);
}

interface Answer {
  readonly region?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Leaves a job failed, and returns what recovery has when the job is out of its window. */
async function leaveOpen(region = 'eu1') {
  const { parts, lose } = fixture;
  await lose({ contents: ['transcript', 'transcript.txt'] }, { region, createdAt: Date.now() - 10 * HOUR });
  const serve = answer('transcript', 500);
  const { jobs } = await reconcile(parts);
  expect(jobs).toMatchObject([{ region, outcome: 'failed' }]);
  serve();
  return { jobs, later: { ...parts, clock: () => Date.now() + 60 * HOUR } };
}

describe('a failed job that the list shows no more', () => {
  it('has not expired, because it was missing before', async () => {
    const { later } = await leaveOpen();
    answer('transcript', 500);
    const retained = { expiredBefore: async () => () => Number.POSITIVE_INFINITY };
    const { outcomes } = await reconcile({ ...later, retention: 65 * HOUR, retained });
    expect(outcomes).toMatchObject({ failed: 1 });
    expect(outcomes.expired).toBeUndefined();
  });

  it('keeps its result while its record cannot be read, and the report says so', async () => {
    const { jobs, later } = await leaveOpen();
    answer('record', 503);
    const report = await reconcile(later);
    expect(report.jobs).toEqual(jobs);
    expect(report.faults).toEqual([{ region: 'eu1', reason: expect.stringMatching(/503/) }]);
    expect(report.regions).toEqual(['us1']);
  });

  it('keeps its result while its region asks for a pause, and the report says so', async () => {
    const { jobs, later } = await leaveOpen();
    answer('transcript', 429, { headers: { 'retry-after': '3600' } });
    const report = await reconcile(later);
    expect(report.jobs).toEqual(jobs);
    expect(report.faults).toEqual([{ region: 'eu1', reason: expect.stringMatching(/asked for a pause/) }]);
  });

  it('is fetched although its region cannot be listed, and keeps its result while nothing answers', async () => {
    const { jobs, later } = await leaveOpen();
    answer('list', 500, { region: 'eu1' });
    const serve = answer('record', 500);
    expect((await reconcile(later)).jobs).toEqual(jobs);
    serve();
    const report = await reconcile(later);
    expect(report.jobs).toMatchObject([{ outcome: 'recovered' }]);
    expect(report.faults).toEqual([{ region: 'eu1', reason: expect.stringMatching(/500/) }]);
    expect(report.regions).toEqual(['us1']);
  });

  it('is fetched from its own region, and left alone when that is not configured any more', async () => {
    const { simulator } = fixture;
    const { later } = await leaveOpen('us1');
    const { apiKey, batchUrls } = simulator;
    const speech = createSpeechClients({ apiKey, regions: { eu1: { batchUrl: batchUrls.eu1 ?? '' } } });
    expect(await reconcile({ ...later, speech }, { dryRun: true })).toMatchObject({ jobs: [], faults: [] });
    await speech.close();
    expect((await reconcile(later)).jobs).toMatchObject([{ region: 'us1', outcome: 'recovered' }]);
  });
});

describe('a list', () => {
  it('is enough where it holds the configuration, or at least the entries', async () => {
    const { simulator, parts, lose } = fixture;
    const first = await lose();
    const second = await lose();
    const entries = simulator.job(first)?.config.notification_config;
    const jobs = [
      { ...simulator.job(first), config: { notification_config: entries } },
      { ...simulator.job(second), config: { type: 'transcription' } },
    ];
    answer('list', 200, { region: 'eu1', body: { jobs } });
    answer('record', 503);
    expect(await reconcile(parts)).toMatchObject({
      jobs: [{ jobId: first, outcome: 'recovered' }],
      ignored: 1,
      faults: [],
    });
  });

  it('without a configuration that cannot be read either is reported, and the other jobs are fetched', async () => {
    const { simulator, parts, lose } = fixture;
    const first = await lose();
    const second = await lose();
    const { config: _config, ...bare } = simulator.job(first) ?? { config: null };
    answer('list', 200, { region: 'eu1', body: { jobs: [bare, simulator.job(second)] } });
    answer('record', 503);
    const report = await reconcile(parts);
    expect(report.jobs).toMatchObject([{ jobId: second, outcome: 'recovered' }]);
    expect(report.faults).toEqual([{ region: 'eu1', reason: expect.stringMatching(/503/) }]);
  });

  it('that may hide jobs of one moment is reported', async () => {
    const { simulator, parts, lose } = fixture;
    const record = simulator.job(await lose());
    const jobs = Array.from({ length: 100 }, (_, n) => ({ ...record, id: `job${n}`, status: 'running' }));
    answer('list', 200, { region: 'eu1', body: { jobs } });
    const report = await reconcile(parts);
    expect(report.outcomes).toMatchObject({ pending: 100, failed: 0 });
    expect(report.faults).toEqual([
      { region: 'eu1', reason: expect.stringContaining(`created at ${record?.created_at},`) },
      // This list is the same whatever it is asked for.
      { region: 'eu1', reason: expect.stringContaining('created_before is not honoured') },
    ]);
  });
});

describe('a job', () => {
  it('has failed with all its items when the store does not say which are here', async () => {
    const { store, parts, lose } = fixture;
    const jobId = await lose({ contents: ['transcript', 'transcript.txt'] });
    const head = async (key: string) => {
      if (key.startsWith('jobs/')) throw new StoreError('head', 'access denied');
      return store.head(key);
    };
    expect((await reconcile({ ...parts, store: { ...store, head } })).jobs).toEqual([
      {
        jobId,
        region: 'eu1',
        outcome: 'failed',
        reason: 'the store failed: head: access denied',
        items: [
          { kind: 'transcript.json-v2', key: `jobs/${jobId}/transcript.json`, outcome: 'failed' },
          { kind: 'transcript.txt', key: `jobs/${jobId}/transcript.txt`, outcome: 'failed' },
        ],
      },
    ]);
    expect(await visibleKeys(fixture.folder, 'jobs/')).toEqual([]);
  });

  it('that an interruption cut short makes the run one that did not see everything', async () => {
    const { parts, lose } = fixture;
    await lose({ contents: ['transcript', 'transcript.txt'] });
    const stop = new AbortController();
    const archive: typeof parts.archive = {
      begin(context, reception) {
        const staged = parts.archive.begin(context, reception);
        const commit = staged.commit.bind(staged);
        return Object.assign(staged, { commit: () => commit().finally(() => stop.abort()) });
      },
    };
    expect(await reconcile({ ...parts, archive }, { signal: stop.signal })).toMatchObject({
      outcomes: { failed: 1 },
      regions: [],
      faults: expect.arrayContaining([{ region: null, reason: 'the run was interrupted' }]),
    });
  });
});
