import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ulid } from 'ulid';
import { formatReconcileReport } from '../../../src/cli/reports/format-reconcile-report.js';
import { artefactMetadata } from '../../../src/domain/artefact-metadata.js';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { createLedgerView } from '../../../src/index/ledger-view.js';
import { newDeliveryId } from '../../../src/ledger/ledger-line.js';
import { eraseJob } from '../../../src/operations/actions/erase/erase-job.js';
import { refetch } from '../../../src/recovery/reconcile/fetch/refetch.js';
import { reconcile } from '../../../src/recovery/reconcile/reconcile.js';
import type { RecoveryReport } from '../../../src/recovery/reconcile/report/recovery-report.js';
import type { JobConfig, JobRecord } from '../../../src/speech/wire.js';
import { StoreError } from '../../../src/store/object-store.js';
import { createAnnouncements } from '../../../src/subscribers/announcements.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { ledgerOf, visibleKeys } from '../../support/ledger/ledger-of.js';
import {
  type RecoveryFixture,
  type RecoveryFixtureOptions,
  recoveryFixture,
} from '../../support/recovery/recovery-fixture.js';

const HOUR = 3_600_000;
const NONE = { matched: 0, recovered: 0, conflict: 0, pending: 0, unrecoverable: 0, failed: 0 };

let fixture: RecoveryFixture;

async function begin(options: RecoveryFixtureOptions = {}): Promise<RecoveryFixture> {
  fixture = await recoveryFixture(options);
  return fixture;
}

afterEach(() => fixture.close());

async function artefacts(): Promise<string[]> {
  return visibleKeys(fixture.folder, 'jobs/');
}

async function temporaryFiles(): Promise<string[]> {
  return readdir(join(fixture.folder, '.tmp')).catch(() => []);
}

function only(report: RecoveryReport) {
  expect(report.jobs).toHaveLength(1);
  return report.jobs[0];
}

describe('reconcile', () => {
  it('names the source that is not configured, where a callback URL leads here', async () => {
    const source = { contents: [], keyPrefix: '' };
    const sources = { default: source, other: source };
    const { parts, lose } = await begin({ parts: { sources, publicUrl: 'https://receiver.example' } });
    for (const name of ['old', 'old', 'constructor', 'default'])
      await lose({ url: `https://receiver.example/callbacks/${name}` });
    await lose({ url: 'https://other.example/callbacks/old' });
    const report = await reconcile(parts);
    expect(report.ignored).toBe(4);
    expect(report.unconfigured).toEqual({ old: 2, constructor: 1 });
    expect(formatReconcileReport(report, false)).toContainEqual(
      expect.stringMatching(/^2 not ours: .* leads to the source "old", .* Configure it and restart/),
    );
    const elsewhere = await reconcile({ ...parts, publicUrl: null }, { since: new Date(0) });
    expect(elsewhere).toMatchObject({ ignored: 4 });
    expect(elsewhere.unconfigured).toEqual({});
  });

  // Rule: Delivery: the API keeps the transcript
  // Rule: Silences: retries and time-out
  it('fetches every kind of artefact byte-exact, and records its origin', async () => {
    const { simulator, parts, store, lose, isExact } = await begin();
    const contents = ['transcript', 'transcript.txt', 'transcript.srt', 'data'];
    const id = await lose({ contents }, { region: 'us1', mediaBytes: 300_000 });
    const report = await reconcile(parts);
    expect(report).toMatchObject({ outcomes: { ...NONE, recovered: 1 }, faults: [], ignored: 0 });
    expect(await isExact(`jobs/${id}/transcript.json`, id, 'transcript.json-v2')).toBe(true);
    expect(await isExact(`jobs/${id}/transcript.txt`, id, 'transcript.txt')).toBe(true);
    expect(await isExact(`jobs/${id}/transcript.srt`, id, 'transcript.srt')).toBe(true);
    expect(await isExact(`jobs/${id}/data`, id, 'data')).toBe(true);
    const info = await store.head(`jobs/${id}/data`);
    expect(info?.metadata).toMatchObject({
      origin: 'recovery',
      region: 'us1',
      status: 'success',
      source: 'default',
    });
    const [line] = await ledgerOf(fixture.folder);
    expect(line).toMatchObject({
      origin: 'recovery',
      region: 'us1',
      jobId: id,
      outcome: 'recovered',
      clientIp: null,
    });
    expect(line?.items.map((item) => item.outcome)).toEqual(Array(4).fill('created'));
    expect(line?.bytes).toBe(line?.items.reduce((sum, item) => sum + item.size, 0));
    expect(info?.metadata['delivery-id']).toBe(line?.deliveryId);
    expect(simulator.deliveries.attempts).toHaveLength(0);
  });

  it('stores and returns the report in the documented shape', async () => {
    const { parts, lose, content } = await begin();
    const id = await lose();
    const report = await reconcile(parts);
    const key = `jobs/${id}/transcript.json`;
    expect(report).toEqual({
      startedAt: expect.stringMatching(/Z$/),
      finishedAt: expect.stringMatching(/Z$/),
      window: { since: expect.stringMatching(/Z$/), until: report.startedAt },
      expectations: expect.stringMatching(/^[0-9a-f]{16}$/),
      regions: ['eu1', 'us1'],
      outcomes: { ...NONE, recovered: 1 },
      recorded: 0,
      jobs: [
        {
          jobId: id,
          region: 'eu1',
          outcome: 'recovered',
          reason: null,
          items: [{ kind: 'transcript.json-v2', key, outcome: 'created' }],
        },
      ],
      ignored: 0,
      unconfigured: {},
      faults: [],
    });
    const [stored, ...others] = await visibleKeys(fixture.folder, 'reports/');
    expect(others).toEqual([]);
    expect(JSON.parse((await content(stored ?? '')).toString())).toEqual(report);
  });

  it('settles the failures of jobs that it finds complete, and writes no line of the others', async () => {
    const { parts, store, lose } = await begin();
    const [refused = '', lost = '', differing = ''] = [await lose(), await lose(), await lose()];
    await lose();
    const rejected = await lose({}, { outcome: 'error' });
    await reconcile(parts);
    const fail = (jobId: string, outcome: string) => {
      const receivedAt = new Date().toISOString();
      return parts.ledger.append(ledgerLine({ deliveryId: ulid(), receivedAt, jobId, outcome, items: [] }));
    };
    await fail(refused, 'refused');
    await fail(lost, 'unrecoverable');
    await fail(differing, 'conflict');
    await fail(rejected, 'refused');
    const before = (await ledgerOf(fixture.folder)).length;
    const view = createLedgerView({ store });
    const { failingJobs } = view;
    expect(await failingJobs()).toEqual(new Set([refused, lost, rejected]));
    const unread = () => Promise.reject(new StoreError('list', 'access denied'));
    for (const options of [{}, { failingJobs, dryRun: true }, { failingJobs: unread }]) {
      expect(await reconcile(parts, options)).toMatchObject({
        outcomes: { ...NONE, matched: 5 },
        faults: [],
      });
    }
    expect(await ledgerOf(fixture.folder)).toHaveLength(before);
    expect((await reconcile(parts, { failingJobs, since: new Date(0) })).outcomes).toEqual({
      ...NONE,
      matched: 5,
    });
    await fail(refused, 'failed');
    await reconcile(parts, { failingJobs });
    const added = (await ledgerOf(fixture.folder)).filter(({ outcome }) => outcome === 'duplicate');
    expect(added.map(({ jobId }) => jobId).toSorted()).toEqual([refused, refused, lost, rejected].toSorted());
    expect(added[0]).toMatchObject({ origin: 'recovery', region: 'eu1', source: 'default', items: [] });
    expect(await failingJobs()).toEqual(new Set());
    await view.stop();
  });

  // Rule: Job record: other fields are ignored
  // Rule: Notification configuration: `jobinfo` is the submitted configuration
  it('stores the job record as a missing jobinfo, and says so', async () => {
    const { simulator, parts, lose, content } = await begin();
    const id = await lose({ contents: ['jobinfo'] });
    expect(only(await reconcile(parts))).toMatchObject({
      outcome: 'recovered',
      reason: expect.stringMatching(/record/),
    });
    expect(JSON.parse((await content(`jobs/${id}/jobinfo.json`)).toString())).toEqual({
      job: simulator.job(id),
    });
    expect((await reconcile(parts)).outcomes).toEqual({ ...NONE, matched: 1 });
  });

  it('leaves the same result when two run at once', async () => {
    const { parts, lose, isExact } = await begin();
    const ids = await Promise.all(
      Array.from({ length: 20 }, () => lose({ contents: ['transcript', 'data'] }, { mediaBytes: 150_000 })),
    );
    const runs = await Promise.all([reconcile(parts), reconcile(parts)]);
    for (const { outcomes, faults } of runs) {
      expect(outcomes.failed + outcomes.unrecoverable + outcomes.conflict).toBe(0);
      expect(faults).toEqual([]);
    }
    expect(await artefacts()).toEqual(
      ids.flatMap((id) => [`jobs/${id}/data`, `jobs/${id}/transcript.json`]).sort(),
    );
    for (const id of ids) expect(await isExact(`jobs/${id}/data`, id, 'data')).toBe(true);
    expect(await visibleKeys(fixture.folder, 'reports/')).toHaveLength(2);
  });

  it('leaves the result of one run when two run at once and the record changes between them', async () => {
    let looks = 0;
    let bothLooked = () => {};
    const looked = new Promise<void>((resolve) => (bothLooked = resolve));
    const { simulator, parts, lose } = await begin({
      wrapStore: (store) => ({
        ...store,
        head: async (key) => {
          const found = await store.head(key);
          if (!key.endsWith('jobinfo.json')) return found;
          looks += 1;
          if (looks === 2) bothLooked();
          await looked;
          return found;
        },
      }),
    });
    const id = await lose({ contents: ['jobinfo'] });
    for (const duration of [1, 2]) {
      const body = { job: { ...simulator.job(id), duration } };
      simulator.faults.add({ kind: 'answer', operation: 'record', status: 200, body, times: 1 });
    }
    const [one, other] = await Promise.all([reconcile(parts), reconcile(parts)]);
    expect([one.outcomes, other.outcomes]).toContainEqual({ ...NONE, recovered: 1 });
    expect([one.outcomes, other.outcomes]).toContainEqual({ ...NONE, matched: 1 });
    expect(await artefacts()).toEqual([`jobs/${id}/jobinfo.json`]);
    expect(await ledgerOf(fixture.folder)).toHaveLength(1);
  });

  it('does not store a job that is erased during any of its steps', async () => {
    let call = 0;
    let eraseAt = 0;
    let erase = async () => {};
    const step = async () => {
      call += 1;
      if (call === eraseAt) await erase();
    };
    const { parts, lose } = await begin({
      parts: { concurrency: 1 },
      wrapStore: (store) => {
        erase = async () => {
          const ledger = { append: async () => {} };
          await eraseJob({ store, keyPrefixes: [''], sleep: async () => {}, ledger }, jobId, {
            actor: 'ada',
            reason: null,
          });
        };
        return {
          ...store,
          head: (key) => step().then(() => store.head(key)),
          create: (...args) => step().then(() => store.create(...args)),
          startUpload: async (...args) => {
            const upload = await store.startUpload(...args);
            return { ...upload, complete: () => step().then(() => upload.complete()) };
          },
        };
      },
    });
    let jobId = '';
    do {
      jobId = await lose({ contents: ['transcript', 'data', 'jobinfo'] }, { mediaBytes: 100_000 });
      call = 0;
      eraseAt += 1;
      const { outcome } = await refetch(parts, { jobId });
      expect([eraseAt, outcome]).not.toEqual([eraseAt, 'failed']);
      if (call >= eraseAt) expect([eraseAt, await artefacts()]).toEqual([eraseAt, []]);
    } while (call >= eraseAt);
    expect(eraseAt).toBeGreaterThan(12);
  });

  it('ends when it is interrupted, reports that, and continues in the next run', async () => {
    const { parts, lose } = await begin({ parts: { concurrency: 1 } });
    for (let n = 0; n < 10; n += 1) await lose();
    const stop = new AbortController();
    let settled = 0;
    const report = await reconcile(parts, {
      signal: stop.signal,
      onJob: () => {
        settled += 1;
        if (settled === 3) stop.abort();
      },
    });
    expect(report.faults).toEqual([{ region: null, reason: 'the run was interrupted' }]);
    expect(report.outcomes).toEqual({ ...NONE, recovered: 3 });
    expect((await reconcile(parts)).outcomes).toEqual({ ...NONE, recovered: 7, matched: 3 });
    expect(await temporaryFiles()).toEqual([]);
  });

  it('records in ledger and report what was stored of interrupted jobs', async () => {
    const stop = new AbortController();
    const stored = new Set<string>();
    const { parts, lose } = await begin({
      wrapStore: (store) => ({
        ...store,
        create: async (key, body, headers) => {
          const made = await store.create(key, body, headers);
          if (key.startsWith('jobs/')) stored.add(key.split('/')[1] ?? '');
          if (stored.size === 3) stop.abort();
          return made;
        },
      }),
    });
    const contents = ['transcript', 'transcript.txt', 'transcript.srt'];
    for (let n = 0; n < 3; n += 1) await lose({ contents });
    const report = await reconcile(parts, { signal: stop.signal });
    expect(report.faults).toEqual([{ region: null, reason: 'the run was interrupted' }]);
    const lines = await ledgerOf(fixture.folder);
    expect(lines.flatMap(({ items }) => items.map(({ key }) => key)).sort()).toEqual(await artefacts());
    const cut = report.jobs.filter(({ outcome }) => outcome === 'failed');
    expect(cut.length).toBeGreaterThan(0);
    for (const { jobId, items, reason } of cut) {
      expect(reason).toBe('the run was interrupted');
      expect(items.map(({ outcome }) => outcome)).toContain('created');
      expect(lines.find((line) => line.jobId === jobId)).toMatchObject({ outcome: 'failed', reason });
    }
    expect((await reconcile(parts)).outcomes).toMatchObject({ recovered: cut.length, failed: 0 });
    const recorded = (await ledgerOf(fixture.folder)).flatMap(({ items }) => items.map(({ key }) => key));
    expect(recorded.sort()).toEqual(await artefacts());
    expect(await artefacts()).toHaveLength(9);
  });

  it('aborts a download when it is interrupted, also while its upload is being opened', async () => {
    const stop = new AbortController();
    const { parts, lose } = await begin({
      wrapStore: (store) => ({
        ...store,
        startUpload: async (key, headers) => {
          stop.abort();
          await new Promise((resolve) => setImmediate(resolve));
          return store.startUpload(key, headers);
        },
      }),
    });
    await lose({ contents: ['data'] }, { mediaBytes: 200_000_000 });
    const report = await reconcile(parts, { signal: stop.signal });
    expect(report).toMatchObject({ outcomes: NONE, faults: [{ reason: 'the run was interrupted' }] });
    expect(await artefacts()).toEqual([]);
    expect(await temporaryFiles()).toEqual([]);
  });
});

describe('failures of the service', () => {
  it('retries a download that broke off, and never archives half of one', async () => {
    const { simulator, parts, lose, isExact } = await begin();
    const id = await lose({ contents: ['transcript', 'data'] }, { mediaBytes: 500_000 });
    simulator.faults.add({ kind: 'cut-download', operation: 'media', times: 1 });
    expect((await reconcile(parts)).outcomes.recovered).toBe(1);
    expect(await isExact(`jobs/${id}/data`, id, 'data')).toBe(true);

    const lost = await lose({ contents: ['transcript', 'data'] }, { mediaBytes: 500_000 });
    simulator.faults.add({ kind: 'cut-download', operation: 'media' });
    const report = await reconcile(parts);
    expect(only(report)).toMatchObject({
      jobId: lost,
      outcome: 'failed',
      reason: expect.stringMatching(/ended after \d+ of 500000 bytes/),
      items: [
        { kind: 'transcript.json-v2', outcome: 'created' },
        { kind: 'data', outcome: 'failed' },
      ],
    });
    expect(await artefacts()).not.toContain(`jobs/${lost}/data`);
    expect(await temporaryFiles()).toEqual([]);
    simulator.faults.clear();
    expect((await reconcile(parts)).outcomes).toEqual({ ...NONE, recovered: 1, matched: 1 });
  });

  it('records every stored item in the ledger, also of a job that failed before', async () => {
    const { simulator, parts, lose } = await begin();
    await lose({ contents: ['transcript', 'data'] });
    simulator.faults.add({ kind: 'answer', operation: 'media', status: 500 });
    const transcripts = simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 500 });
    await reconcile(parts);
    simulator.faults.remove(transcripts);
    for (let n = 0; n < 2; n += 1) expect((await reconcile(parts)).outcomes.failed).toBe(1);
    const lines = await ledgerOf(fixture.folder);
    expect(lines.map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
    expect(lines[1]?.items.map(({ key }) => key)).toEqual(await artefacts());
  });

  it('records one cause for all jobs that fail in the same way', async () => {
    const { simulator, parts, lose } = await begin();
    for (let n = 1; n <= 3; n += 1) await lose({}, { createdAt: Date.now() - (140 + n) * HOUR });
    simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 500 });
    expect((await reconcile(parts)).outcomes).toEqual({ ...NONE, failed: 3 });
    const reasons = (await ledgerOf(fixture.folder)).map(({ reason }) => reason);
    expect(reasons).toEqual(Array(3).fill(expect.stringContaining('answered 500')));
    expect(new Set(reasons).size).toBe(1);
  });

  it('retries failed jobs beyond the window, and warns as their retention ends', async () => {
    const { simulator, parts, lose } = await begin();
    const id = await lose();
    const refusing = simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 500 });
    const later = (hours: number) => ({ ...parts, clock: () => Date.now() + hours * HOUR });
    await reconcile(parts);
    // More than the memory of the ledger spans: days without the list.
    const hiding = simulator.faults.add({ kind: 'answer', operation: 'list', status: 401 });
    for (let n = 0; n < 6; n += 1) {
      expect((await reconcile(later(60))).jobs).toMatchObject([
        { jobId: id, region: 'eu1', outcome: 'failed' },
      ]);
    }
    simulator.faults.remove(hiding);
    const warned: unknown[] = [];
    const report = await reconcile(later(130), {
      onJob: (job, record) => warned.push([job.jobId, record?.id]),
    });
    expect(warned).toEqual([[id, id]]);
    expect(only(report)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(/keeps it only until/),
    });
    expect(await ledgerOf(fixture.folder)).toHaveLength(1);
    simulator.faults.remove(refusing);
    expect((await reconcile(later(131))).outcomes).toEqual({ ...NONE, recovered: 1 });
    expect((await reconcile(later(132))).outcomes).toEqual(NONE);
  });

  it('reports that a failed job beyond the window has vanished, until the whole window is listed again', async () => {
    const { simulator, parts, lose } = await begin();
    await lose();
    simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 500 });
    await reconcile(parts);
    await reconcile({ ...parts, clock: () => Date.now() + 100 * HOUR });
    simulator.faults.add({ kind: 'answer', operation: 'record', status: 404 });
    const later = { ...parts, clock: () => Date.now() + 130 * HOUR };
    expect(only(await reconcile(later))).toMatchObject({
      outcome: 'unrecoverable',
      reason: expect.stringMatching(/vanished/),
      items: [{ outcome: 'unrecoverable' }],
    });
    expect((await reconcile(later)).outcomes).toEqual({ ...NONE, unrecoverable: 1 });
    const nextDay = { ...parts, clock: () => Date.now() + 155 * HOUR };
    expect((await reconcile(nextDay)).outcomes).toEqual(NONE);
  });

  it.each([
    ['refuses the key', { status: 401, body: { code: 401, error: 'Permission Denied' } }, /401/],
    [
      'answers an error that looks like an empty list',
      { status: 200, body: { code: 500, error: 'Internal Error', jobs: [] } },
      /no list of jobs/,
    ],
    // Rule: Hosts: all regions at once
  ])('continues with other regions when one %s', async (_name, answer, reason) => {
    const { simulator, parts, lose } = await begin();
    await lose({}, { region: 'us1' });
    simulator.faults.add({ kind: 'answer', operation: 'list', region: 'eu1', ...answer });
    const report = await reconcile(parts);
    expect(report.outcomes.recovered).toBe(1);
    expect(report.faults).toEqual([{ region: 'eu1', reason: expect.stringMatching(reason) }]);
  });

  it('leaves a region that asks for a long pause, reports that, and continues with the others', async () => {
    const { simulator, parts, lose } = await begin();
    await Promise.all(Array.from({ length: 60 }, () => lose()));
    await lose({}, { region: 'us1' });
    simulator.faults.add({
      kind: 'answer',
      operation: 'transcript',
      region: 'eu1',
      status: 429,
      headers: { 'retry-after': '3600' },
    });
    const report = await reconcile(parts);
    expect(report.outcomes).toMatchObject({ matched: 0, recovered: 1 });
    // Only the jobs whose requests were rejected. Of the others no failure is known.
    expect(report.outcomes.failed).toBeLessThanOrEqual(parts.concurrency);
    expect(report.regions).toEqual(['us1']);
    expect(report.faults).toEqual([
      { region: 'eu1', reason: expect.stringMatching(/asked for a pause until/) },
    ]);
    const struck = simulator.faults.list().find(({ fault }) => fault.kind === 'answer')?.struck;
    expect(struck).toBeLessThanOrEqual(parts.concurrency);
  });

  it('reports list entries that are not jobs', async () => {
    const { simulator, parts, lose } = await begin();
    const id = await lose();
    const record = simulator.job(id);
    const body = { jobs: [record, { id: '../../etc/passwd' }, null] };
    simulator.faults.add({ kind: 'answer', operation: 'list', region: 'eu1', status: 200, body, times: 1 });
    const report = await reconcile(parts);
    expect(report.outcomes.recovered).toBe(1);
    expect(report.faults).toEqual([{ region: 'eu1', reason: expect.stringMatching(/2 entries/) }]);
  });

  it.each([
    ['the configuration', (_config: object) => ({})],
    ['its notification entries', ({ notification_config: _, ...config }: JobConfig) => ({ config })],
  ])('reads the record where the list leaves out %s', async (_, kept) => {
    const { simulator, parts, lose } = await begin();
    const id = await lose();
    const { config, ...bare } = simulator.job(id) as JobRecord;
    const body = { jobs: [{ ...bare, ...kept(config) }] };
    simulator.faults.add({ kind: 'answer', operation: 'list', region: 'eu1', status: 200, body, times: 1 });
    expect((await reconcile(parts)).outcomes.recovered).toBe(1);
  });
});

describe('failures of the store', () => {
  /** A store without space for what begins with the prefix. */
  const full = (prefix: string, isFull = () => true): Parameters<typeof begin>[0] => ({
    wrapStore: (store) => ({
      ...store,
      create: (key, body, headers) => {
        if (isFull() && key.startsWith(prefix)) throw new StoreError('create', 'no space left');
        return store.create(key, body, headers);
      },
    }),
  });

  it('reports a failed job, and fetches it in the next run', async () => {
    let broken = true;
    const { parts, lose } = await begin(full('jobs/', () => broken));
    await lose();
    expect(only(await reconcile(parts))).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(/no space/),
    });
    broken = false;
    expect((await reconcile(parts)).outcomes.recovered).toBe(1);
    expect((await ledgerOf(fixture.folder)).map(({ outcome }) => outcome)).toEqual(['failed', 'recovered']);
  });

  it('reports a job as failed when its ledger line could not be written, and records what is stored in the next run', async () => {
    let broken = true;
    const { parts, store, lose } = await begin(full('ledger/', () => broken));
    const id = await lose();
    expect(only(await reconcile(parts))).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(/missing in the ledger/),
      items: [{ outcome: 'created' }],
    });
    broken = false;
    for (let n = 0; n < 2; n += 1)
      expect((await reconcile(parts, { since: new Date(0) })).outcomes.matched).toBe(1);
    const [line, ...others] = await ledgerOf(fixture.folder);
    expect(others).toEqual([]);
    const key = `jobs/${id}/transcript.json`;
    const { size = 0, metadata = {} } = (await store.head(key)) ?? {};
    const { sha256, 'delivery-id': creator } = metadata;
    expect(line).toMatchObject({ jobId: id, outcome: 'duplicate', items: [{ key, size, sha256 }] });
    const events = await createAnnouncements(store, 0).of(line as LedgerLine);
    expect(events).toMatchObject([{ id: creator, data: { outcome: 'recovered', items: [{ key, sha256 }] } }]);
  });

  it('records what a callback stored whose replica died before its line, once the service has given up', async () => {
    const { parts, store, simulator, lose } = await begin();
    simulator.faults.clear();
    const id = await lose();
    const facts = { jobId: id, status: 'success', source: 'default', region: 'eu1', context: null } as const;
    const act = {
      deliveryId: newDeliveryId(),
      receivedAt: new Date().toISOString(),
      origin: 'callback',
    } as const;
    const metadata = artefactMetadata({ ...facts, ...act }, { kind: 'transcript.json-v2' });
    const body = await simulator.expected(id)['transcript.json-v2'].bytes();
    await store.create(`jobs/${id}/transcript.json`, body, { contentType: 'application/json', metadata });
    for (let n = 0; n < 2; n += 1)
      expect((await reconcile(parts, { since: new Date(0) })).outcomes.matched).toBe(1);
    const lines = await ledgerOf(fixture.folder);
    const sha256 = createHash('sha256').update(body).digest('hex');
    expect(lines).toMatchObject([{ outcome: 'duplicate', items: [{ outcome: 'identical', sha256 }] }]);
  });

  it('fetches nothing when the earlier reports cannot be read, and reports that', async () => {
    const { parts, lose } = await begin({
      wrapStore: (store) => ({
        ...store,
        keys: (prefix, options) => {
          if (prefix.startsWith('reports/')) throw new StoreError('list', 'access denied');
          return store.keys(prefix, options);
        },
      }),
    });
    await lose();
    expect(await reconcile(parts)).toMatchObject({
      outcomes: NONE,
      regions: [],
      faults: [{ region: null, reason: expect.stringMatching(/access denied/) }],
    });
    expect(await artefacts()).toEqual([]);
  });

  it('reports that the report could not be stored', async () => {
    const { parts, lose } = await begin(full('reports/'));
    await lose();
    const report = await reconcile(parts);
    expect(report.outcomes.recovered).toBe(1);
    expect(report.faults).toEqual([{ region: null, reason: expect.stringMatching(/report was not stored/) }]);
  });
});
