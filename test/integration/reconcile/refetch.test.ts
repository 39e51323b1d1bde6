import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { StagedDelivery } from '../../../src/archive/archive.js';
import { erasureKey } from '../../../src/archive/layout.js';
import { Problem } from '../../../src/domain/problem.js';
import { refetch } from '../../../src/recovery/reconcile/fetch/refetch.js';
import { reconcile } from '../../../src/recovery/reconcile/reconcile.js';
import { StoreError } from '../../../src/store/object-store.js';
import { ledgerOf, visibleKeys } from '../../support/ledger/ledger-of.js';
import { type RecoveryFixture, recoveryFixture } from '../../support/recovery/recovery-fixture.js';
import { commit, context, putItem } from '../../support/store/archive-fixture.js';

let fixture: RecoveryFixture;

describe('refetch', () => {
  beforeEach(async () => {
    fixture = await recoveryFixture({ parts: { grace: 3_600_000 } });
  });

  afterEach(() => fixture.close());

  // Rule: Hosts: a job exists only in its region
  it('finds the region by itself and ignores the grace period', async () => {
    const { parts, lose, isExact } = fixture;
    const jobId = await lose({}, { region: 'us1' });
    expect(await refetch(parts, { jobId })).toMatchObject({ jobId, region: 'us1', outcome: 'recovered' });
    expect(await isExact(`jobs/${jobId}/transcript.json`, jobId, 'transcript.json-v2')).toBe(true);
  });

  it('asks no other region than the one that is named', async () => {
    const { parts, lose } = fixture;
    const jobId = await lose({}, { region: 'us1' });
    const unknown = { outcome: 'unrecoverable', reason: 'no configured region knows this job' };
    expect(await refetch(parts, { jobId, region: 'eu1' })).toMatchObject(unknown);
    expect(await refetch(parts, { jobId, region: 'us1' })).toMatchObject({ outcome: 'recovered' });
  });

  it('records nothing of an erased job, and fails when a complete job cannot be recorded', async () => {
    const { parts, lose, store } = fixture;
    const jobId = await lose();
    await refetch(parts, { jobId });
    const ledger = {
      ...parts.ledger,
      append: async () => {
        throw new StoreError('create', 'access denied');
      },
    };
    expect(await refetch({ ...parts, ledger }, { jobId })).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(/missing in the ledger: the store failed/),
    });
    await store.create(erasureKey(jobId), Buffer.from('{}'), { contentType: 'x/y', metadata: {} });
    expect(await refetch(parts, { jobId })).toMatchObject({ outcome: 'matched' });
    expect(await ledgerOf(fixture.folder)).toHaveLength(1);
  });

  it('compares existing artefacts with `again`, and keeps what differs as conflict', async () => {
    const { parts, store, lose } = fixture;
    const jobId = await lose({ contents: ['transcript', 'transcript.txt', 'jobinfo'] });
    const headers = { contentType: 'text/plain', metadata: {} };
    await store.create(`jobs/${jobId}/transcript.txt`, Buffer.from('something else'), headers);
    await refetch(parts, { jobId });
    const again = await refetch(parts, { jobId, again: true });
    expect(again).toMatchObject({
      outcome: 'conflict',
      items: [
        { kind: 'transcript.json-v2', outcome: 'identical' },
        { kind: 'transcript.txt', outcome: 'conflict' },
      ],
    });
    expect((await fixture.content(`jobs/${jobId}/transcript.txt`)).toString()).toBe('something else');
    expect(await fixture.isExact(again.items[1]?.key ?? '', jobId, 'transcript.txt')).toBe(true);
  });

  it.each([
    ['is deleted', 'record', { status: 'deleted' }, 'the job is deleted'],
    [
      'has no results any more',
      'transcript',
      410,
      'not compared, because the service no longer has it: transcript',
    ],
    ['is not known any more', 'record', 404, 'no configured region knows this job'],
  ] as const)(
    'keeps what is stored of a job that %s, and does not call it lost, with `again`',
    async (_way, operation, answer, reason) => {
      const { parts, simulator, lose, isExact } = fixture;
      const jobId = await lose();
      await refetch(parts, { jobId });
      const body = { job: { ...simulator.job(jobId), ...(typeof answer === 'object' && answer) } };
      const status = typeof answer === 'number' ? answer : 200;
      simulator.faults.add({ kind: 'answer', operation, status, ...(status === 200 && { body }) });
      expect(await refetch(parts, { jobId, again: true })).toMatchObject({
        outcome: 'matched',
        reason: expect.stringContaining(reason),
        items: [],
      });
      expect(await isExact(`jobs/${jobId}/transcript.json`, jobId, 'transcript.json-v2')).toBe(true);
      const lines = await ledgerOf(fixture.folder);
      expect(lines.map(({ outcome }) => outcome)).toEqual(['recovered', 'duplicate']);
    },
  );

  it('says of a dry run with `again` what it would fetch and what it would compare', async () => {
    const { parts, store, lose } = fixture;
    const jobId = await lose({ contents: ['transcript', 'transcript.txt'] });
    const headers = { contentType: 'text/plain', metadata: {} };
    await store.create(`jobs/${jobId}/transcript.txt`, Buffer.from('something else'), headers);
    expect(await refetch(parts, { jobId, again: true, dryRun: true })).toMatchObject({
      outcome: 'pending',
      reason: 'would be fetched; stored, and would be fetched to compare: transcript.txt',
      items: [{ kind: 'transcript.json-v2', outcome: 'missing' }],
    });
    expect(await ledgerOf(fixture.folder)).toEqual([]);
  });

  it('says that an artefact is damaged when its recorded SHA-256 is that of the service', async () => {
    const { parts, store, simulator, lose } = fixture;
    const jobId = await lose({ contents: ['transcript.txt'] });
    const sha256 = await simulator.expected(jobId)['transcript.txt'].sha256();
    const key = `jobs/${jobId}/transcript.txt`;
    await store.create(key, Buffer.from('bytes of another job'), {
      contentType: 'text/plain',
      metadata: { sha256 },
    });
    const again = await refetch(parts, { jobId, again: true });
    expect(again).toMatchObject({
      outcome: 'conflict',
      reason: expect.stringMatching(new RegExp(`^${key} is damaged`)),
      items: [{ kind: 'transcript.txt', key: `jobs/${jobId}/conflicts/transcript.txt.${sha256}` }],
    });
  });

  it('keeps the context of a callback URL that leads elsewhere, in metadata and ledger', async () => {
    const { store, lose } = fixture;
    const jobId = await lose({ url: 'https://elsewhere.example/hook?customer=acme' });
    const [name = '', settings] = Object.entries(fixture.parts.sources)[0] ?? [];
    const sources = {
      ...fixture.parts.sources,
      [name]: { contents: [], keyPrefix: '', ...settings, context: ['customer'] },
    };
    await refetch({ ...fixture.parts, sources }, { jobId, source: name });
    const head = await store.head(`jobs/${jobId}/transcript.json`);
    expect(head?.metadata).toMatchObject({ 'context-customer': 'acme' });
    expect(await ledgerOf(fixture.folder)).toMatchObject([{ jobId, context: { customer: 'acme' } }]);
  });

  it('requires the source when there are several and the job names none', async () => {
    const { lose } = fixture;
    const sources = {
      default: { contents: ['transcript'], keyPrefix: '' },
      legal: { contents: ['transcript.txt'], keyPrefix: 'legal/' },
    };
    const parts = { ...fixture.parts, sources };
    const jobId = await lose({}, { notify: [] });
    expect(await refetch(parts, { jobId })).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(/source/),
    });
    expect(await refetch(parts, { jobId, source: 'legal' })).toMatchObject({ outcome: 'recovered' });
    expect(await visibleKeys(fixture.folder, 'legal/')).toEqual([`legal/jobs/${jobId}/transcript.txt`]);
  });

  it('releases its memory when others wait for it, and retries once', async () => {
    const { parts, lose, isExact } = fixture;
    const jobId = await lose({ contents: ['data'] }, { mediaBytes: 3_000_000 });
    const given: StagedDelivery[] = [];
    const archive: typeof parts.archive = {
      begin(context, reception) {
        const staged = parts.archive.begin(context, reception);
        given.push(staged);
        if (given.length > 1) return staged;
        let refuse: (problem: Problem) => void = () => {};
        const open = staged.open.bind(staged);
        return Object.assign(staged, {
          onRefused(listener: typeof refuse) {
            refuse = listener;
          },
          open(description: Parameters<typeof open>[0]) {
            setImmediate(() => refuse(new Problem('overloaded', 'The body came too slowly.')));
            return open(description);
          },
        });
      },
    };
    expect(await refetch({ ...parts, archive }, { jobId })).toMatchObject({ outcome: 'recovered' });
    expect(given.map(({ settled }) => settled)).toEqual([true, true]);
    expect(await isExact(`jobs/${jobId}/data`, jobId, 'data')).toBe(true);
  });
});

describe('content that does not fit', () => {
  const PAGE = '<!DOCTYPE html><html><body>Maintenance</body></html>';

  beforeEach(async () => {
    fixture = await recoveryFixture();
  });

  afterEach(() => fixture.close());

  it.each([
    ['text/html', PAGE, /transcript\.txt that the service sent has the unexpected content type text\/html/],
    ['text/plain', `\ufeff\n${PAGE}`, /is a web page/],
  ])('a page that comes as %s instead of a text is not archived', async (type, page, reason) => {
    const { simulator, parts, lose } = fixture;
    const jobId = await lose({ contents: ['transcript.txt'] });
    simulator.faults.add({
      kind: 'answer',
      operation: 'transcript',
      status: 200,
      headers: { 'content-type': type },
      base64: Buffer.from(page).toString('base64'),
    });
    const { jobs } = await reconcile(parts);
    expect(jobs).toMatchObject([{ jobId, outcome: 'failed', reason: expect.stringMatching(reason) }]);
    expect(await visibleKeys(fixture.folder, 'jobs/')).toEqual([]);

    const callback = parts.archive.begin(context({ jobId }));
    const own = await simulator.expected(jobId)['transcript.txt'].bytes();
    await putItem(callback, { kind: 'transcript.txt', contentType: 'text/plain' }, own);
    expect(await commit(callback)).toMatchObject([
      { key: `jobs/${jobId}/transcript.txt`, outcome: 'created' },
    ]);
    expect((await reconcile(parts)).outcomes).toMatchObject({ failed: 0, conflict: 0 });
  });
});
