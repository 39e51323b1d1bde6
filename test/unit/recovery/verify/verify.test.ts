import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { archiveSession } from '../../../../src/cli/capture/archive-session.js';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import type { StoredItem } from '../../../../src/domain/item.js';
import { ledgerPartition } from '../../../../src/ledger/hours.js';
import { parseSegmentKey } from '../../../../src/ledger/segment-key.js';
import { createLedger } from '../../../../src/ledger/write/ledger.js';
import { type VerifyOptions, verify } from '../../../../src/recovery/verify/verify.js';
import type { SessionReport } from '../../../../src/speech/realtime/session/session-report.js';
import { type ObjectStore, StoreError } from '../../../../src/store/object-store.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../support/ledger/ledger-segments.js';
import { mergeLedger } from '../../../support/ledger/merge-ledger.js';
import { archiveOver } from '../../../support/store/archive-fixture.js';
import { type BeforeCall, createMemoryStore, type MemoryStore } from '../../../support/store/memory-store.js';
import { withUnlistable } from '../../../support/store/unlistable-folders.js';

const NOW = Date.parse('2026-03-10T00:00:00Z');
const AT = '2026-03-04T05:06:07.089Z';
const SINCE = new Date('2026-03-01T00:00:00Z');

let before: BeforeCall;
let store: MemoryStore;

beforeEach(() => {
  before = () => undefined;
  expiredBefore = Number.NEGATIVE_INFINITY;
  store = createMemoryStore((operation, key) => before(operation, key));
});

/** The time before which everything has expired; none by default. */
let expiredBefore = Number.NEGATIVE_INFINITY;
const retained = { expiredBefore: async () => () => expiredBefore };

function run(options: Partial<VerifyOptions> = {}, over: ObjectStore = store) {
  const sources = { default: { contents: [], keyPrefix: '' } };
  const parts = { store: over, sources, retention: 7 * 86_400_000, retained, clock: () => NOW };
  return verify(parts, { version: '1.2.3', since: SINCE, ...options });
}

/** An item as the ledger has it; with `metadata` its object has the hash. */
function put(key: string, text: string, { metadata = true } = {}): StoredItem {
  const body = Buffer.from(text);
  const sha256 = hash('sha256', body, 'hex');
  store.objects.set(key, {
    body,
    headers: { contentType: 'text/plain', metadata: metadata ? { sha256 } : {} },
    modifiedAt: new Date(AT),
  });
  return { kind: 'transcript.txt', key, size: body.length, sha256, outcome: 'created' };
}

const lineOf = (jobId: string, items: StoredItem[], more: Partial<LedgerLine> = {}) =>
  ledgerLine({ jobId, items, receivedAt: AT, ...more });

/** Jobs with one artefact each, all of them in one segment. */
function putJobs(count: number): void {
  const lines = Array.from({ length: count }, (_, n) =>
    lineOf(`j${n}`, [put(`jobs/j${n}/transcript.txt`, `${n}`)]),
  );
  putSegment(store, AT, lines);
}

const down = (operation: string): never => {
  throw new StoreError(operation, 'connection reset');
};

describe('verify', () => {
  it('checks the rest when the store does not answer for one artefact, and is not complete', async () => {
    putJobs(100);
    before = (operation, key) => (key === 'jobs/j50/transcript.txt' ? down(operation) : undefined);
    store.objects.delete('jobs/j99/transcript.txt');
    const report = await run();
    expect(report.outcomes).toMatchObject({ intact: 98, missing: 1, unchecked: 1 });
    expect(report).toMatchObject({ complete: false, checked: 99 });
    expect(report.faults).toEqual([
      { key: 'jobs/j50/transcript.txt', reason: 'the store failed: head: connection reset' },
    ]);
  });

  it('reads the rest behind any number of hours that cannot be read, while the store answers', async () => {
    for (const hour of ['04', '05', '06', '07', '08']) {
      const at = `2026-03-04T${hour}:00:00.000Z`;
      putSegment(store, at, [
        lineOf(`j${hour}`, [put(`jobs/j${hour}/transcript.txt`, hour)], { receivedAt: at }),
      ]);
    }
    before = (operation, key) => (/hour=0[4567]/.test(key) ? down(operation) : undefined);
    const report = await run();
    expect(report).toMatchObject({ complete: false, checked: 1, ledger: { segments: 1, lines: 1 } });
    const unread = ['04', '05', '06', '07'].map((hour) => `ledger/dt=2026-03-04/hour=${hour}/`);
    expect(report.faults.map(({ key }) => key)).toEqual(unread);
  });

  it('names each hour of a day that cannot be listed, and reads the others', async () => {
    putJobs(1);
    putSegment(store, '2026-03-05T04:00:00.000Z', [lineOf('other', [put('jobs/other/transcript.txt', 'x')])]);
    const report = await run(
      {},
      withUnlistable(store, () => ['ledger/dt=2026-03-04/']),
    );
    expect(report).toMatchObject({ complete: false, checked: 1 });
    expect(report.faults).toHaveLength(24);
    expect(report.faults[5]).toMatchObject({ key: 'ledger/dt=2026-03-04/hour=05/' });
  });

  it('ends when nothing can be read any more', async () => {
    putJobs(5);
    for (const hour of ['06', '07', '08', '09']) putSegment(store, `2026-03-04T${hour}:00:00.000Z`, []);
    before = (operation) => (['list', 'identity'].includes(operation) ? down(operation) : undefined);
    const report = await run();
    expect(report).toMatchObject({ complete: false, checked: 0 });
    expect(report.faults.at(-1)?.reason).toBe('the ledger was not read from dt=2026-03-04/hour=07/ on');
  });

  it('checks the rest behind any number of artefacts without an answer, while the store answers', async () => {
    putJobs(1010);
    before = (operation, key) => (/^jobs\/j(?!100\d)/.test(key) ? down(operation) : undefined);
    const report = await run();
    expect(report.outcomes).toMatchObject({ intact: 10, unchecked: 1000 });
  });

  it('ends when the store answers for none of a thousand artefacts, nor at all', async () => {
    putJobs(3000);
    before = (operation, key) => (/^(jobs\/|$)/.test(key) ? down(operation) : undefined);
    const report = await run();
    expect(report.outcomes.unchecked).toBe(1000);
    expect(report.faults).toHaveLength(100);
    expect(store.calls.filter(({ operation }) => operation === 'head').length).toBeLessThan(1100);
  });

  it('misses nothing that the ledger only says was read', async () => {
    const read = { kind: 'data', key: 'jobs/gone/data', size: 1, sha256: 'a', outcome: 'read' } as const;
    putSegment(store, AT, [
      ledgerLine({ jobId: 'gone', receivedAt: AT, origin: 'admin', outcome: 'read', items: [read] }),
    ]);
    const report = await run();
    expect(report).toMatchObject({ complete: true, checked: 0, missing: [] });
  });

  it('does not hide a bug', async () => {
    putJobs(2);
    before = (operation) => {
      if (operation === 'head') throw new TypeError('a bug');
    };
    await expect(run()).rejects.toThrow('a bug');
  });

  it('finds the same in hours that are merged, with their segments and without', async () => {
    putJobs(20);
    store.objects.delete('jobs/j7/transcript.txt');
    const { outcomes, missing } = await run();
    await mergeLedger({ store, clock: () => NOW, keepSegments: null });
    expect(await run()).toMatchObject({ complete: true, outcomes, missing });
    for (const key of [...store.objects.keys()]) if (key.endsWith('.ndjson')) store.objects.delete(key);
    expect(await run()).toMatchObject({
      complete: true,
      outcomes,
      missing,
      ledger: { segments: 1, lines: 20 },
    });
  });

  it('asks the store once for each artefact, however many lines tell of it', async () => {
    const item = put('jobs/j/transcript.txt', 'text');
    const again = { ...item, outcome: 'identical' as const };
    putSegment(store, AT, [lineOf('j', [item]), lineOf('j', [again]), lineOf('j', [again])]);
    expect(await run()).toMatchObject({ checked: 1 });
    expect(store.calls.filter(({ key }) => key === item.key)).toHaveLength(1);
  });

  it.each([
    ['by its hash', true, 'metadata'],
    ['whatever its size', false, 'claims'],
  ])(
    'reports two lines that claim different content for one key: the object is judged %s',
    async (_, metadata, reason) => {
      const item = put('jobs/j/data', 'aaaa', { metadata });
      const other = { ...item, sha256: hash('sha256', 'bbbb', 'hex') };
      putSegment(store, AT, [lineOf('j', [item]), lineOf('j', [other]), lineOf('j', [other])]);
      const report = await run();
      expect(report.damaged).toMatchObject([
        { key: item.key, reason, expected: { sha256: other.sha256 }, found: { size: 4 } },
      ]);
      expect(report.outcomes).toMatchObject({ intact: 1, damaged: 1 });
      const content = await run({ deep: true });
      expect(content.damaged).toMatchObject([{ reason: 'content', found: { sha256: item.sha256 } }]);
    },
  );

  it('lets content of after an erasure differ from content of before it', async () => {
    const item = put('jobs/j/data', 'aaaa', { metadata: false });
    const old = { ...item, sha256: hash('sha256', 'bbbb', 'hex'), size: 5 };
    store.put('.erasures/j.json', JSON.stringify({ erasedAt: '2026-03-05T00:00:00.000Z' }));
    putSegment(store, AT, [
      lineOf('j', [old]),
      lineOf('j', [item], { receivedAt: '2026-03-06T00:00:00.000Z' }),
    ]);
    expect((await run()).outcomes).toMatchObject({ erased: 1, intact: 1, damaged: 0 });
    store.objects.delete('jobs/j/data');
    expect((await run()).outcomes).toMatchObject({ erased: 1, missing: 1 });
  });

  it('knows an erasure by its ledger line, without the mark, and misses what was stored afterwards', async () => {
    const before = put('jobs/j/data', 'before');
    const after = put('jobs/j/data', 'after');
    putSegment(store, AT, [
      lineOf('j', [before]),
      lineOf('j', [], { receivedAt: '2026-03-05T00:00:00.000Z', origin: 'admin', outcome: 'erased' }),
      lineOf('j', [after], { receivedAt: '2026-03-06T00:00:00.000Z' }),
    ]);
    store.objects.delete('jobs/j/data');
    expect((await run()).outcomes).toMatchObject({ erased: 1, missing: 1 });
  });

  it('checks the other lines beside those that cannot be read, and is not complete', async () => {
    const segment = putSegment(store, AT, [
      lineOf('j', [put('jobs/j/data', 'text')]),
      '{"v":1,"deliv',
      '{"v":2}',
    ]);
    store.objects.delete('jobs/j/data');
    const report = await run();
    expect(report).toMatchObject({ complete: false, ledger: { unreadable: 2 }, outcomes: { missing: 1 } });
    expect(report.faults).toEqual([{ key: segment, reason: 'it has lines that cannot be read' }]);
  });

  it('takes an artefact that was lost and fetched again with other content as replaced, unless the object is neither', async () => {
    const key = 'jobs/j1/jobinfo.json';
    const lost = { ...put(key, 'of the callback'), kind: 'jobinfo' as const };
    const fetched = { ...put(key, 'of the API'), kind: 'jobinfo' as const };
    const later = '2026-03-05T00:00:00.000Z';
    const recovery = {
      receivedAt: later,
      origin: 'replay',
      outcome: 'recovered',
      actor: 'ops',
      reason: 'why',
    };
    putSegment(store, AT, [lineOf('j1', [lost]), lineOf('j1', [fetched], recovery as Partial<LedgerLine>)]);
    expect(await run()).toMatchObject({
      outcomes: { intact: 1, replaced: 1, damaged: 0 },
      replaced: [
        { jobId: 'j1', key, sha256: lost.sha256, choice: { chosenAt: later, actor: 'ops', reason: 'why' } },
      ],
      refetch: [],
    });
    put(key, 'of nobody');
    expect(await run()).toMatchObject({ outcomes: { replaced: 0, damaged: 2 } });
  });

  it('checks the artefacts of live sessions', async () => {
    const { archive } = archiveOver(store);
    const ledger = createLedger({ store, replica: 'r', clock: () => Date.parse(AT) });
    const context = {
      deliveryId: '01JZZZZZZZZZZZZZZZZZZZZZZZ',
      jobId: 'session',
      source: 'default',
      region: null,
      origin: 'realtime',
      receivedAt: AT,
      keyPrefix: '',
    } as const;
    const file = { kind: 'transcript.txt', contentType: 'text/plain', content: 'Hello.' } as const;
    await archiveSession(archive, ledger, context, [file], {
      report: { acknowledged: { frames: 1, bytes: 5, seconds: null } } as SessionReport,
      reason: null,
      detail: null,
      finishedAt: AT,
    });
    expect((await run()).outcomes).toMatchObject({ intact: 1 });
    store.objects.delete('jobs/session/transcript.txt');
    const report = await run();
    expect(report.missing).toMatchObject([{ kind: 'transcript.txt', keptUntil: null }]);
    expect(report.refetch).toEqual([]);
  });

  it('offers what the service may still have, by source where there are several, many jobs by one replay, and differing bytes with --again', async () => {
    const young = '2026-03-09T00:00:00.000Z';
    const lines = [
      lineOf('old', [put('jobs/old/transcript.txt', 'a')]),
      lineOf('young', [put('jobs/young/transcript.txt', 'b')], { receivedAt: young, source: 'intake' }),
      ...['two', 'three'].map((job) =>
        lineOf(job, [put(`jobs/${job}/data`, job)], { receivedAt: young, source: 'brief' }),
      ),
      lineOf('short', [put('jobs/short/transcript.txt', 'c')], { receivedAt: young }),
      lineOf('files', [{ ...put('jobs/files/attachments/a', 'd'), kind: 'attachment' }], {
        receivedAt: young,
      }),
      lineOf('copy', [put('jobs/copy/conflicts/data.x', 'e')], { receivedAt: young }),
      lineOf('info', [{ ...put('jobs/info/jobinfo.json', 'g'), kind: 'jobinfo' }], { receivedAt: young }),
      lineOf('given', [put('jobs/given/data', 'f')], { receivedAt: young, origin: 'import' }),
    ];
    putSegment(store, young, lines);
    for (const key of [...store.objects.keys()]) if (key.startsWith('jobs/')) store.objects.delete(key);
    store.put('jobs/short/transcript.txt', 'cut');
    store.put('jobs/info/jobinfo.json', 'of nobody');
    const source = { contents: [], keyPrefix: '' };
    const sources = { default: source, intake: source, brief: source };
    const parts = { store, sources, retention: 2 * 86_400_000, retained, clock: () => NOW };
    const report = await verify(parts, { version: '1', since: SINCE });
    expect(report.refetch).toEqual([
      'transcript-receiver refetch young --source intake',
      `transcript-receiver replay refetch --source brief --since ${young} --job two --job three --reason "lost from the store"`,
      'transcript-receiver refetch short --source default --again',
    ]);
    expect(report.missing[0]).toMatchObject({ jobId: 'old', keptUntil: '2026-03-06T05:06:07.089Z' });
  });

  it('finds a quarantined body and the request beside it, and proposes no refetch: the service may not have it', async () => {
    const at = '2026-03-09T05:06:07.089Z';
    const quarantined = { outcome: 'quarantined', receivedAt: at, bytes: 3 } as const;
    const torn = '0'.repeat(26);
    store.put(`quarantine/${torn}/body`, 'raw');
    putSegment(store, at, [
      lineOf('young', [], quarantined),
      lineOf('torn', [], { ...quarantined, deliveryId: torn }),
    ]);
    const report = await run();
    expect(report.missing).toMatchObject([{ jobId: 'young', kind: 'quarantine', keptUntil: null }]);
    expect(report.damaged).toMatchObject([{ jobId: 'torn', kind: 'quarantine', reason: 'request' }]);
    expect(report.refetch).toEqual([]);
  });

  it('finds with --deep a segment of the same size that differs from its merged hour', async () => {
    putJobs(3);
    await mergeLedger({ store, clock: () => NOW, keepSegments: null });
    const key = [...store.objects.keys()].find((each) => each.startsWith('ledger/')) ?? '';
    store.put(key, String(store.objects.get(key)?.body).replace('"jobId":"j1"', '"jobId":"j2"'));
    expect((await run()).faults).toEqual([]);
    expect((await run({ deep: true })).faults).toEqual([{ key, reason: 'it differs from its merged hour' }]);
  });

  it('tells what has expired apart from what is missing', async () => {
    const young = '2026-03-06T05:06:07.089Z';
    const body = `quarantine/${'0'.repeat(26)}/body`;
    putSegment(store, AT, [
      lineOf('old', [put('jobs/old/transcript.txt', 'a')]),
      lineOf('here', [put('jobs/here/transcript.txt', 'a')]),
      lineOf('cut', [put('jobs/cut/transcript.txt', 'a')]),
      lineOf('broken', [], { outcome: 'quarantined', deliveryId: '0'.repeat(26), bytes: 3 }),
    ]);
    putSegment(store, young, [
      lineOf('young', [put('jobs/young/transcript.txt', 'a')], { receivedAt: young }),
    ]);
    store.put(body, 'raw');
    store.put('jobs/cut/transcript.txt', 'shorter or longer');
    for (const job of ['old', 'young']) store.objects.delete(`jobs/${job}/transcript.txt`);
    expiredBefore = Date.parse('2026-03-05T00:00:00.000Z');
    const report = await run();
    // The sweep has removed the request.json of the quarantined body so far.
    expect(report.outcomes).toMatchObject({ expired: 2, intact: 1, missing: 1, damaged: 1 });
    expect(report.missing).toMatchObject([{ jobId: 'young' }]);
    expect(report.expiredBefore).toMatchObject({ transcript: '2026-03-05T00:00:00.000Z' });
  });

  it('knows by later lines of the sweep what expired, and misses what was stored again since', async () => {
    const later = '2026-03-05T05:06:07.089Z';
    const sweep = { origin: 'retention', outcome: 'expired', receivedAt: later } as const;
    const item = (job: string) => put(`jobs/${job}/transcript.txt`, 'a');
    putSegment(
      store,
      AT,
      ['expired', 'other-kind', 'other-job', 'again'].map((job) => lineOf(job, [item(job)])),
    );
    putSegment(store, later, [
      lineOf('expired', [], { ...sweep, expired: { kind: 'transcript', objects: 1 } }),
      lineOf('other-kind', [], { ...sweep, expired: { kind: 'data', objects: 1 } }),
      lineOf('again', [], { ...sweep, expired: { kind: 'transcript', objects: 1 } }),
    ]);
    const last = '2026-03-05T06:06:07.089Z';
    const again = { ...item('again2'), key: 'jobs/again/conflicts/transcript.txt.x' };
    putSegment(store, last, [lineOf('again', [again], { receivedAt: last })]);
    for (const key of [...store.objects.keys()]) if (key.startsWith('jobs/')) store.objects.delete(key);
    const report = await run();
    expect(report.outcomes).toMatchObject({ expired: 2, missing: 3 });
    expect(report.missing.map(({ key }) => key)).toEqual([
      'jobs/other-kind/transcript.txt',
      'jobs/other-job/transcript.txt',
      again.key,
    ]);
  });

  it('takes nothing for expired when the store does not say what has, and is not complete', async () => {
    putSegment(store, AT, [lineOf('old', [put('jobs/old/transcript.txt', 'a')])]);
    store.objects.delete('jobs/old/transcript.txt');
    const unknown = { expiredBefore: async () => down('read') };
    const parts = { store, sources: {}, retention: 0, retained: unknown, clock: () => NOW };
    const report = await verify(parts, { version: '1', since: SINCE });
    expect(report).toMatchObject({ complete: false, outcomes: { missing: 1, expired: 0 } });
    expect(report.faults).toMatchObject([{ key: null, reason: expect.stringMatching(/expired/) }]);
  });

  it('says how much it has read, and ends within an artefact when it is interrupted', async () => {
    putSegment(store, AT, [lineOf('j', [put('jobs/j/data', 'x'.repeat(5000))])]);
    const inTwo: ObjectStore = {
      ...store,
      async read(...asked) {
        const reading = await store.read(...asked);
        if (reading === null || asked[0] !== 'jobs/j/data') return reading;
        const [body] = await reading.body.toArray();
        return { ...reading, body: Readable.from([body.subarray(0, 4000), body.subarray(4000)]) };
      },
    };
    const stop = new AbortController();
    let read = 0;
    const onProgress: VerifyOptions['onProgress'] = ({ bytes }) => {
      read = bytes;
      stop.abort();
    };
    const report = await run({ deep: true, signal: stop.signal, onProgress }, inTwo);
    expect(read).toBe(4000);
    expect(report).toMatchObject({ complete: false, checked: 0, outcomes: { unchecked: 1 } });
  });

  it('counts items that name no object, and is not complete', async () => {
    const items = [
      {},
      { ...put('jobs/j/data', 'x'), key: '../reconcile/escape' },
      { kind: 'data', key: 'k', size: '3' },
    ];
    putSegment(store, AT, [lineOf('j', items as StoredItem[])]);
    expect(await run()).toMatchObject({ complete: false, checked: 0, ledger: { unusable: 3 } });
  });

  it('says so when the report cannot be stored', async () => {
    putJobs(1);
    before = (operation) => (operation === 'create' ? down(operation) : undefined);
    const report = await run();
    expect(report).toMatchObject({ complete: false, checked: 1 });
    expect(report.faults[0]?.reason).toMatch(/^the report was not stored: the store failed/);
  });

  it('has at most 64 requests in flight and reads ahead by steps, however long the ledger is', async () => {
    const computed = computedStore({ segments: 400, linesEach: 50 });
    const report = await run({}, computed.store);
    expect(report).toMatchObject({ complete: true, checked: 20_000 });
    expect(computed.mostInFlight()).toBeLessThanOrEqual(64);
    // A step of the reader has 256 segments.
    expect(computed.mostUnchecked()).toBeLessThanOrEqual(64 + 256 * 50);
  });
});

/** A store whose segments and artefacts are computed when they are asked for. */
function computedStore({ segments, linesEach }: { segments: number; linesEach: number }) {
  const memory = createMemoryStore();
  const folder = ledgerPartition(AT);
  const keyOf = (n: number) => `${folder}r~${String(n + 1).padStart(8, '0')}.ndjson`;
  let read = 0;
  let checked = 0;
  let inFlight = 0;
  let most = 0;
  let unchecked = 0;
  const store: ObjectStore = {
    ...memory,
    async *folders(prefix) {
      if (!prefix.startsWith('ledger/')) return;
      yield prefix === 'ledger/' ? `${folder.split('/').slice(0, 2).join('/')}/` : folder;
    },
    async *list(prefix) {
      if (prefix !== folder) return;
      const at = (n: number) => new Date(Date.parse(AT) + n * 1000);
      for (let n = 0; n < segments; n += 1) yield { key: keyOf(n), size: 1, modifiedAt: at(n) };
    },
    async read(key, ...rest) {
      if (!key.startsWith('ledger/')) return memory.read(key, ...rest);
      read += linesEach;
      unchecked = Math.max(unchecked, read - checked);
      const first = (parseSegmentKey(key)?.number ?? 0) * linesEach;
      const lines = Array.from({ length: linesEach }, (_, n) => {
        const item = {
          kind: 'data',
          key: `jobs/j${first + n}/data`,
          size: 1,
          sha256: '',
          outcome: 'created',
        };
        return JSON.stringify(lineOf(`j${first + n}`, [item as StoredItem]));
      });
      memory.put(key, lines.join('\n'), Date.parse(AT) + (first / linesEach - 1) * 1000);
      const reading = await memory.read(key);
      memory.objects.delete(key);
      return reading;
    },
    async head(key) {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise(setImmediate);
      inFlight -= 1;
      checked += 1;
      return { key, size: 1, modifiedAt: new Date(AT), contentType: 'audio/wav', metadata: {}, version: '1' };
    },
  };
  return { store, mostInFlight: () => most, mostUnchecked: () => unchecked };
}
