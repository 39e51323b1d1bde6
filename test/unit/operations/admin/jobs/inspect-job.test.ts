import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { encodeTime } from 'ulid';
import { quarantineFolder } from '../../../../../src/archive/layout.js';
import { createQuarantineStore } from '../../../../../src/archive/quarantine/quarantine-store.js';
import { markQuarantined } from '../../../../../src/archive/quarantine/quarantined-bodies.js';
import type { LedgerLine } from '../../../../../src/domain/delivery.js';
import { indexInThread } from '../../../../../src/index/fill/index-in-thread.js';
import { createLedgerView } from '../../../../../src/index/ledger-view.js';
import { type InspectParts, inspectJob } from '../../../../../src/operations/admin/jobs/inspect-job.js';
import { jobExtent } from '../../../../../src/operations/admin/jobs/job-extent.js';
import { createJobEvents } from '../../../../../src/operations/admin/subscribers/job-events.js';
import type { Job } from '../../../../../src/operations/answers/jobs.js';
import { createOutboxReader } from '../../../../../src/subscribers/outbox-reader.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../../support/ledger/ledger-segments.js';
import { createMemoryStore, type MemoryStore } from '../../../../support/store/memory-store.js';

const NOW = '2026-03-20T12:00:00.000Z';
const LONG_AGO = '2026-03-01T05:06:07.089Z';
const DAY = 86_400_000;

async function partsOf(store: MemoryStore, options: { reach?: number } = {}): Promise<InspectParts> {
  const parts = partsBeforeRead(store, options);
  await parts.view.refresh();
  return parts;
}

function partsBeforeRead(store: MemoryStore, options: { reach?: number } = {}) {
  const view = createLedgerView({
    store,
    clock: () => Date.parse(NOW),
    startIndex: indexInThread,
    ...options,
  });
  const records = { regions: [], within: 0, record: () => Promise.reject(new Error('no region')) };
  const quarantine = createQuarantineStore(store);
  const retained = { expiredBefore: async () => () => Number.NEGATIVE_INFINITY };
  const clock = () => Date.parse(NOW);
  return {
    store,
    keyPrefixes: [''],
    view,
    fresh: async () => {},
    retention: 7 * DAY,
    records,
    quarantine,
    retained,
    jobEvents: createJobEvents(store, view, createOutboxReader(store, {})),
    clock,
  };
}

/** A refused callback, which was acknowledged, and 600 accesses afterwards. */
function jobThatIsLookedAt(begin: number): Record<'lines' | 'accesses', LedgerLine[]> {
  const line = (ms: number, fields: Partial<LedgerLine>) =>
    ledgerLine({ receivedAt: new Date(begin + ms).toISOString(), jobId: 'j1', ...fields });
  const acknowledged = { origin: 'replay', outcome: 'acknowledged', actor: 'anna', source: null } as const;
  const read = { origin: 'admin', outcome: 'read', actor: 'ben' } as const;
  return {
    lines: [line(0, { outcome: 'refused' }), line(1, acknowledged)],
    accesses: Array.from({ length: 600 }, (_, n) => line(2 + n, read)),
  };
}

describe('inspectJob', () => {
  it('shows a job that has only a quarantined body, with its ledger line from before the index', async () => {
    const store = createMemoryStore();
    const deliveryId = `${encodeTime(Date.parse(LONG_AGO))}0123456789ABCDEF`;
    const line = ledgerLine({ deliveryId, jobId: 'j1', receivedAt: LONG_AGO, outcome: 'quarantined' });
    const headers = { contentType: 'application/octet-stream', metadata: { 'job-id': 'j1' } };
    await store.create(`${quarantineFolder(deliveryId)}body`, Buffer.from('{"broken'), headers);
    await store.create(`${quarantineFolder(deliveryId)}request.json`, Buffer.from('{}'), headers);
    await markQuarantined(store, 'j1', deliveryId);
    putSegment(store, LONG_AGO, [line]);
    const parts = await partsOf(store, { reach: 7 * DAY });
    expect(parts.view.extent().since).not.toBeNull();
    expect(await inspectJob(parts, 'j1')).toMatchObject({
      jobId: 'j1',
      artefacts: [],
      timeline: [line],
      service: null,
    });
    expect(await jobExtent(parts, 'j1', null)).toBe('all');
    expect(await inspectJob(parts, 'j2')).toBe('not-configured');
    expect(await jobExtent(parts, 'j2', null)).toBe('none');
  });

  it('does not call a job unknown whose line was indexed after it was looked for', async () => {
    const store = createMemoryStore();
    putSegment(store, NOW, [ledgerLine({ jobId: 'j1', receivedAt: NOW, outcome: 'noted' })]);
    const { view, ...parts } = partsBeforeRead(store);
    const sourcesOfJob = async (job: string) => {
      const sources = await view.sourcesOfJob(job);
      await view.refresh();
      return sources;
    };
    expect(
      await inspectJob({ ...parts, view: { ...view, sourcesOfJob } }, 'j1', new Set(['default'])),
    ).toMatchObject({
      jobId: 'j1',
    });
  });

  it('reads no quarantined body of a job that has artefacts', async () => {
    const store = createMemoryStore();
    store.put('jobs/j1/transcript.json', '{}');
    const parts = await partsOf(store);
    expect(await inspectJob(parts, 'j1')).toMatchObject({
      artefacts: [{ kind: 'transcript.json-v2' }],
    });
    expect(store.calls.filter(({ key }) => key.startsWith('quarantine/'))).toEqual([]);
  });

  it('finds lines that are older than the index where the log has them, by when an artefact was received', async () => {
    const store = createMemoryStore();
    const line = ledgerLine({ jobId: 'j1', receivedAt: LONG_AGO });
    putSegment(store, LONG_AGO, [line, ledgerLine({ jobId: 'j2', receivedAt: LONG_AGO })]);
    const headers = { contentType: 'application/json', metadata: { 'received-at': LONG_AGO } };
    await store.create('jobs/j1/transcript.json', Buffer.from('{}'), headers);
    const parts = await partsOf(store, { reach: 7 * DAY });
    expect(await inspectJob(parts, 'j1')).toMatchObject({ timeline: [line] });
  });

  it('finds an erased job by its ledger lines of any age that the index has, also where its mark is lost', async () => {
    const store = createMemoryStore();
    const stored = ledgerLine({ receivedAt: '2025-11-02T03:04:05.678Z', jobId: 'j1' });
    const erasedAt = '2025-12-24T18:00:00.000Z';
    const lines = [stored, ledgerLine({ receivedAt: erasedAt, jobId: 'j1', outcome: 'erased', items: [] })];
    for (const line of lines) putSegment(store, line.receivedAt, [line]);
    const parts = await partsOf(store, { reach: 365 * DAY });
    expect(await jobExtent(parts, 'j1', null)).toBe('all');
    expect(await inspectJob(parts, 'j1')).toMatchObject({
      timeline: lines,
      index: { since: null, missing: [] },
      lost: [],
      erasure: { erasedAt, complete: true, keptUntil: null },
    });
  });

  it('searches as far for a job of other sources as for an unknown one', async () => {
    const store = createMemoryStore();
    const old = '2025-11-02T03:04:05.678Z';
    putSegment(store, old, [ledgerLine({ receivedAt: old, jobId: 'another' })]);
    putSegment(store, LONG_AGO, [ledgerLine({ receivedAt: LONG_AGO, jobId: 'lined', source: 'b' })]);
    const headers = { contentType: 'application/json', metadata: { source: 'b', 'received-at': old } };
    await store.create('jobs/stored/transcript.json', Buffer.from('{}'), headers);
    const searched: Set<string>[] = [];
    for (const jobId of ['unknown', 'lined', 'stored']) {
      const parts = await partsOf(store);
      store.calls.length = 0;
      expect(await inspectJob(parts, jobId, new Set(['a']))).toBe('not-asked');
      expect(await jobExtent(parts, jobId, new Set(['a']))).toBe('none');
      searched.push(new Set(store.calls.map(({ key }) => key).filter((key) => key.startsWith('ledger/'))));
    }
    const [unknown, lined, stored] = searched;
    expect([lined, stored]).toEqual([unknown, unknown]);
  });

  it('knows what other sources have below a prefix that only the lines of a job name, before it is settled or erased', async () => {
    const store = createMemoryStore();
    const receivedAt = new Date(Date.parse(NOW) - 3_600_000).toISOString();
    const put = (name: string, source: string) =>
      store.create(`old/jobs/j1/${name}`, Buffer.from('{}'), {
        contentType: 'application/json',
        metadata: { source },
      });
    const item = {
      key: 'old/jobs/j1/data',
      kind: 'data',
      size: 2,
      sha256: 'ab',
      outcome: 'created',
    } as const;
    const own = ledgerLine({ receivedAt, jobId: 'j1', source: 'a', items: [item] });
    const act = ledgerLine({ receivedAt, jobId: 'j1', origin: 'replay', outcome: 'replayed', source: null });
    putSegment(store, receivedAt, [own, act]);
    await put('data', 'a');
    const ofA = new Set(['a']);
    const parts = await partsOf(store);
    expect(await jobExtent(parts, 'j1', ofA)).toBe('all');
    expect(await inspectJob(parts, 'j1', ofA)).toMatchObject({ timeline: [act, own] });
    // Its line is older than the index.
    await put('transcript.json', 'b');
    expect(await jobExtent(parts, 'j1', ofA)).toBe('some');
    const job = (await inspectJob(parts, 'j1', ofA)) as Job;
    expect(job).toMatchObject({ timeline: [own], artefacts: [{ key: item.key }] });
    expect(job.artefacts).toHaveLength(1);
    expect(await inspectJob(parts, 'j1', new Set(['b']))).toBe('not-asked');
  });

  it('takes a job for one of several sources when it has more lines than are shown', async () => {
    const store = createMemoryStore();
    const at = (ms: number) => new Date(Date.parse(NOW) - 3_600_000 + ms).toISOString();
    const foreign = ledgerLine({ receivedAt: at(0), jobId: 'j1', source: 'b' });
    const own = Array.from({ length: 500 }, (_, n) =>
      ledgerLine({ receivedAt: at(n + 1), jobId: 'j1', source: 'a' }),
    );
    putSegment(store, NOW, [foreign, ...own]);
    expect(await jobExtent(await partsOf(store), 'j1', new Set(['a']))).toBe('some');
  });

  it.each([
    ['in memory', Date.parse(NOW) - 3_600_000],
    ['before', Date.parse(LONG_AGO)],
  ])(
    'shows what happened to a job, however often its content was looked at, by lines %s',
    async (_, begin) => {
      const store = createMemoryStore();
      const { lines, accesses } = jobThatIsLookedAt(begin);
      putSegment(store, lines[0]?.receivedAt ?? '', lines);
      putSegment(store, accesses[0]?.receivedAt ?? '', accesses);
      const parts = await partsOf(store);
      await inspectJob(parts, 'j1');
      const { timeline } = (await inspectJob(parts, 'j1')) as Job;
      expect(timeline.slice(0, 2)).toEqual(lines);
      // The latest ones: `GET deliveries?origin=admin` lists the others.
      expect(timeline.slice(2)).toEqual(accesses.slice(-500));
    },
  );

  it('takes a job for one of a source alone, however often its content was looked at', async () => {
    const store = createMemoryStore();
    const { lines, accesses } = jobThatIsLookedAt(Date.parse(NOW) - 3_600_000);
    putSegment(store, NOW, [...lines, ...accesses]);
    expect(await jobExtent(await partsOf(store), 'j1', new Set(['default']))).toBe('all');
  });

  it('says what the index has, and does not call a job unknown while it reaches less far than the service keeps results', async () => {
    const store = createMemoryStore();
    putSegment(store, LONG_AGO, [ledgerLine({ receivedAt: LONG_AGO, jobId: 'j1' })]);
    const parts = await partsOf(store, { reach: 3 * DAY });
    const { since } = parts.view.extent();
    expect(since).not.toBeNull();
    for (const scope of [null, new Set(['default'])])
      expect(await inspectJob(parts, 'j1', scope)).toMatchObject({
        artefacts: [],
        timeline: [],
        index: { since, missing: [] },
      });
    expect(await inspectJob(await partsOf(store, { reach: 7 * DAY }), 'j1')).toBe('not-configured');
  });

  it.each([
    ['with artefacts', ['jobs/j1/transcript.json']],
    ['without', []],
  ])('names segments of the ledger that are missing, of a job %s', async (_, artefacts) => {
    const store = createMemoryStore();
    for (const key of artefacts) store.put(key, '{}');
    const keys = [1, 2, 3].map(() => putSegment(store, LONG_AGO, [ledgerLine({ receivedAt: LONG_AGO })]));
    store.objects.delete(keys[1] ?? '');
    const job = await inspectJob(await partsOf(store), 'j1');
    expect(job).toMatchObject({
      timeline: [],
      index: { missing: [{ key: keys[1], segments: 1, unreadable: null }] },
    });
  });
});

describe('the failure of a job', () => {
  const outcomes = [
    ...['failed', 'unrecoverable', 'refused', 'conflict'],
    ...['stored', 'duplicate', 'noted', 'quarantined', 'dismissed', 'recovered', 'acknowledged', 'erased'],
  ];
  const timeline = fc.uniqueArray(
    fc.record({
      minutes: fc.integer({ min: 1, max: 6 * 24 * 60 }),
      outcome: fc.constantFrom(...outcomes),
      source: fc.constantFrom('a', 'a', 'b', null),
    }),
    { selector: ({ minutes }) => minutes, minLength: 1, maxLength: 8 },
  );
  const scopes = fc.constantFrom(null, new Set(['a']));

  it('is the one for which the job is in the list of failures', async () => {
    // Two are open: the newer one counts.
    const conflicts = (['b', 'a'] as const).map((source, at) => ({
      minutes: 1 + at,
      outcome: 'conflict',
      source,
    }));
    await fc.assert(
      fc.asyncProperty(timeline, scopes, async (events, scope) => {
        const store = createMemoryStore();
        for (const { minutes, outcome, source } of events) {
          const receivedAt = new Date(Date.parse(NOW) - minutes * 60_000).toISOString();
          putSegment(store, receivedAt, [ledgerLine({ receivedAt, jobId: 'j1', outcome, source })]);
        }
        const view = createLedgerView({ store, clock: () => Date.parse(NOW), startIndex: indexInThread });
        await view.refresh();
        const { failures } = await view.openFailures({ limit: 10, scope });
        const listed = failures.map(({ outcome, reason, receivedAt }) => ({ outcome, reason, receivedAt }));
        const job = await inspectJob(await partsOf(store), 'j1', scope);
        expect(typeof job === 'string' ? null : job.failure).toEqual(listed[0] ?? null);
        await view.stop();
      }),
      {
        numRuns: 40,
        examples: [[conflicts, null]],
      },
    );
  });
});
