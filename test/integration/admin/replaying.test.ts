import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createQuarantineStore } from '../../../src/archive/quarantine/quarantine-store.js';
import { createLedgerView } from '../../../src/index/ledger-view.js';
import { createLedger } from '../../../src/ledger/write/ledger.js';
import type { ReplayState } from '../../../src/operations/actions/replay/replay-state.js';
import { createReplayStore } from '../../../src/operations/actions/replay/replay-store.js';
import {
  createReplays,
  type Replays,
  type ReplaysOptions,
} from '../../../src/operations/actions/replay/replays.js';
import type { ReplayInFull } from '../../../src/operations/answers/replays.js';
import type { SpeechClients } from '../../../src/speech/speech.js';
import { SpeechError } from '../../../src/speech/speech-error.js';
import { createFileStore } from '../../../src/store/file/file-store.js';
import { type ObjectStore, StoreError } from '../../../src/store/object-store.js';
import { keepDeadEvent } from '../../../src/subscribers/dead-events.js';
import { ledgerOf, visibleKeys } from '../../support/ledger/ledger-of.js';
import { deadEventOf, outboxOf, SECRET } from '../../support/outbox/subscribed.js';
import { type AdminApi, adminApi, sendCallback } from '../../support/processes/admin-api.js';
import {
  type RunningService,
  startService,
  useOwnServices,
} from '../../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../../support/recovery/lost-jobs.js';
import { NOTHING_EXPIRES } from '../../support/recovery/recovery-fixture.js';
import { archiveOver } from '../../support/store/archive-fixture.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const ORDER = { actor: 'tester', reason: null };

describe('replays over HTTP', () => {
  let lost: LostJobs;
  let service: RunningService;
  let api: AdminApi;

  beforeEach(async () => {
    // Jobs the service is asked to be patient with take long enough to be interrupted.
    lost = await lostJobs({ retries: 10 });
    service = await startService({
      sources: { default: {} },
      recovery: { concurrency: 2 },
      ...lost.settings,
    });
    api = adminApi(service);
  });
  const startOwn = useOwnServices();
  afterEach(async () => {
    await service.stop();
    await lost.simulator.close();
  });

  const order = (selector: object, more: object = {}) => api.post('/replays').send({ selector, ...more });

  async function finished(id: string, from = api) {
    // biome-ignore lint/suspicious/noExplicitAny: tests look at what came, whatever it is
    let view: any;
    await until(async () => {
      view = (await from.get(`/replays/${id}`)).body;
      return view.state !== 'running';
    });
    return view;
  }

  it('previews, then refetches the selected jobs, and changes nothing a second time', async () => {
    const ids = await Promise.all([lost.lose(), lost.lose(), lost.lose()]);
    await sendCallback(service, `id=${ids[0]}&status=error`);
    const named = await order({ kind: 'refetch', jobs: ids }, { dryRun: true });
    expect(named.status).toBe(200);
    expect(named.body).toEqual({ count: 3, bytes: 0, jobs: ids });
    const filtered = await order({ kind: 'refetch', outcome: 'noted', status: 'error' }, { dryRun: true });
    expect(filtered.body).toEqual({ count: 1, bytes: 0, jobs: [ids[0]] });
    expect(await visibleKeys(service.folder, 'replays/')).toEqual([]);

    const started = await order({ kind: 'refetch', jobs: ids }, { reason: 'outage of the 5th' });
    expect(started.status).toBe(202);
    const { replayId } = started.body;
    const view = await finished(replayId);
    expect(view).toMatchObject({ replayId, state: 'done', total: 3, done: 3, failed: 0 });
    expect(view).toMatchObject({ outcomes: { recovered: 3 }, actor: 'tester', reason: 'outage of the 5th' });
    const again = await order({ kind: 'refetch', jobs: ids });
    expect(await finished(again.body.replayId)).toMatchObject({ state: 'done', outcomes: { matched: 3 } });
    // A refetch of one job is on record as well, and is no replay of the list.
    expect((await api.post(`/jobs/${ids[0]}/refetch`).send({})).status).toBe(200);
    const listed = await api.get('/replays?limit=1');
    expect(listed.body.replays).toEqual([expect.objectContaining({ replayId: again.body.replayId })]);
    const next = await api.get(`/replays?cursor=${listed.body.nextCursor}`);
    expect(next.body).toMatchObject({ replays: [{ replayId }], nextCursor: null, index: { since: null } });
    const line = (await ledgerOf(service.folder)).find(({ deliveryId }) => deliveryId === replayId);
    expect(line).toMatchObject({ outcome: 'replayed', actor: 'tester', reason: 'outage of the 5th' });
  });

  it('releases bodies in bulk, and counts those that stay undecodable', async () => {
    for (const id of ['b1', 'b2'])
      await sendCallback(service, `id=${id}&status=success`, '{"broken', JSON_TYPE);
    const preview = await order({ kind: 'release' }, { dryRun: true });
    expect(preview.body).toEqual({ count: 2, bytes: 16, jobs: ['b1', 'b2'] });
    expect((await order({ kind: 'release', jobs: ['b2'] }, { dryRun: true })).body.count).toBe(1);
    expect((await order({ kind: 'release', region: 'eu1' }, { dryRun: true })).body.count).toBe(0);
    const { body } = await order({ kind: 'release' });
    expect(await finished(body.replayId)).toMatchObject({ done: 0, failed: 2, outcomes: { undecodable: 2 } });
  });

  it('selects what has a value of the context: jobs, bodies and events, also those that were not sent', async () => {
    const own = await startOwn({
      ...lost.settings,
      sources: { default: { context: ['customer'] } },
      subscribers: { crm: { url: 'http://127.0.0.1:1', secrets: [SECRET] } },
    });
    const whole = '{"format":"2.9","results":[]}';
    const broken = '{"broken';
    for (const customer of ['acme', 'other']) {
      const query = `status=success&customer=${customer}`;
      await sendCallback(own, `id=stored-${customer}&${query}`, whole, JSON_TYPE);
      await sendCallback(own, `id=broken-${customer}&${query}`, broken, JSON_TYPE);
    }
    const preview = async (selector: object, context = 'customer=acme') =>
      (
        await adminApi(own)
          .post('/replays')
          .send({ selector: { ...selector, context }, dryRun: true })
      ).body;
    const stored = 'stored-acme';
    const undecodable = 'broken-acme';
    const jobs = { refetch: [undecodable, stored], release: [undecodable], notify: [stored] };
    for (const [kind, expected] of Object.entries(jobs)) {
      expect(await preview({ kind })).toMatchObject({ count: expected.length, jobs: expected });
      expect(await preview({ kind }, 'customer=nobody')).toMatchObject({ count: 0 });
      expect(await preview({ kind }, 'misspelt=acme')).toMatchObject({ code: 'request-invalid' });
    }
    const store = createFileStore({ directory: own.folder, partSize: 64 * 1024 });
    for (const customer of ['acme', 'other']) {
      const { event, ...dead } = deadEventOf(`dead-${customer}`);
      await keepDeadEvent(store, {
        ...dead,
        event: { ...event, data: { ...event.data, context: { customer } } },
      });
    }
    expect(await preview({ kind: 'notify', dead: true })).toMatchObject({ count: 1, jobs: ['dead-acme'] });
    expect(await preview({ kind: 'refetch', cause: 'json-invalid' })).toMatchObject({
      code: 'request-invalid',
    });
  });

  it('ends when nothing that the service sends of these jobs can be their transcript', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => lost.lose()));
    const headers = { 'content-type': 'application/json' };
    lost.simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 200, headers, body: '<p>' });
    const { body } = await order({ kind: 'refetch', jobs: ids });
    const view = async () => (await api.get(`/replays/${body.replayId}`)).body;
    await until(async () => (await view()).state !== 'running');
    expect(await view()).toMatchObject({ state: 'done', done: 0, failed: 20 });
  });

  it('stays cancelled, and records the actor', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, () => lost.lose()));
    lost.simulator.faults.add({
      kind: 'answer',
      operation: 'record',
      status: 429,
      headers: { 'retry-after': '1' },
    });
    const { body } = await order({ kind: 'refetch', jobs: ids });
    const cancel = () => api.delete(`/replays/${body.replayId}`).send({ reason: 'wrong selection' });
    const cancelled = await cancel();
    expect(cancelled.body).toMatchObject({ state: 'cancelled' });
    expect((await cancel()).status).toBe(200);
    const lines = (await ledgerOf(service.folder)).filter(({ outcome }) => outcome === 'cancelled');
    expect(lines).toEqual([
      expect.objectContaining({ deliveryId: body.replayId, actor: 'tester', reason: 'wrong selection' }),
    ]);
    expect((await api.get(`/replays/${body.replayId}`)).body.state).toBe('cancelled');
  });

  it('is interrupted by a shutdown and taken over by the next replica', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, () => lost.lose()));
    const fault = lost.simulator.faults.add({
      kind: 'answer',
      operation: 'transcript',
      status: 429,
      headers: { 'retry-after': '1' },
    });
    const first = await startOwn({
      store: { url: `file:${service.folder}` },
      sources: { default: {} },
      replicaName: 'first',
      ...lost.settings,
    });
    const { body } = await adminApi(first)
      .post('/replays')
      .send({ selector: { kind: 'refetch', jobs: ids } });
    await first.stop();
    expect((await api.get(`/replays/${body.replayId}`)).body).toMatchObject({
      state: 'interrupted',
      owner: 'first',
    });
    lost.simulator.faults.remove(fault);
    await startOwn({
      store: { url: `file:${service.folder}` },
      sources: { default: {} },
      replicaName: 'second',
      ...lost.settings,
    });
    await until(async () => (await api.get(`/replays/${body.replayId}`)).body.state === 'done');
    const view = (await api.get(`/replays/${body.replayId}`)).body;
    expect(view.done + view.failed).toBe(6);
    expect(view.owner).toBe('second');
  });

  const REFUSED: readonly [string, object][] = [
    ['no selector', {}],
    ['an unknown kind', { selector: { kind: 'everything' } }],
    ['a refetch of everything', { selector: { kind: 'refetch' } }],
    ['an unknown filter', { selector: { kind: 'release', colour: 'blue' } }],
    ['an empty list of jobs, which would be all of them', { selector: { kind: 'release', jobs: [] } }],
    ['an empty list of jobs beside a filter', { selector: { kind: 'release', jobs: [], source: 'default' } }],
    ['ids that are none', { selector: { kind: 'refetch', jobs: ['../x'] } }],
    ['an invalid instant', { selector: { kind: 'refetch', since: 'yesterday' } }],
    ['a day no calendar has', { selector: { kind: 'refetch', since: '2026-02-31T00:00:00Z' } }],
    ['a time without a zone', { selector: { kind: 'refetch', since: '2026-02-28T00:00:00' } }],
    ['a dryRun that is no boolean', { selector: { kind: 'release' }, dryRun: 'yes' }],
    [
      'too many ids',
      { selector: { kind: 'refetch', jobs: Array.from({ length: 10_001 }, (_, n) => `j${n}`) } },
    ],
  ];
  it('refuses what is no selector', async () => {
    for (const [what, json] of REFUSED) {
      const { body } = await api.post('/replays').send(json);
      expect([what, body]).toMatchObject([what, { status: 400, code: 'request-invalid' }]);
    }
  });

  it.each<[string, object]>([
    ['region', {}],
    ['key', { speech: { apiKey: null, regions: { eu1: { batchUrl: 'http://127.0.0.1:9' } } } }],
  ])('refuses to refetch without a %s, and releases all the same', async (_, settings) => {
    const own = adminApi(await startOwn({ sources: { default: {} }, ...settings }));
    const send = (json: object) => own.post('/replays').send(json);
    for (const dryRun of [true, false]) {
      const { body } = await send({ selector: { kind: 'refetch', jobs: ['j1'] }, dryRun });
      expect(body).toMatchObject({
        status: 409,
        code: 'conflict',
        detail: expect.stringMatching(/region|apiKey/),
      });
    }
    expect((await own.get('/replays')).body.replays).toEqual([]);
    expect((await send({ selector: { kind: 'release' } })).status).toBe(202);
  });

  it('rejects unknown ids, and cancelling a replay that is done', async () => {
    expect((await api.get('/replays/01ARZ3NDEKTSV4RRFFQ69G5FAV')).status).toBe(404);
    expect((await api.delete('/replays/x')).status).toBe(404);
    expect((await api.get('/replays?cursor=x')).status).toBe(400);
    const { body } = await order({ kind: 'release' });
    expect(await finished(body.replayId)).toMatchObject({ state: 'done', total: 0 });
    const late = await api.delete(`/replays/${body.replayId}`);
    expect(late.body).toMatchObject({ status: 409, code: 'conflict' });
  });
});

const HOUR = 3_600_000;

type ReadRecord = (jobId: string, signal: AbortSignal | undefined) => Promise<void>;

interface ReplicaOptions extends Partial<ReplaysOptions> {
  /** Called for every job whose record is requested; what it throws is the service's answer. */
  readonly record?: ReadRecord;
  readonly concurrency?: number;
}

/** The client of a service whose jobs are all done and require no artefact. */
function serviceThat(read: ReadRecord): SpeechClients {
  const notification_config = [{ url: 'http://127.0.0.1:9/callbacks/default', contents: [] }];
  const config = { type: 'transcription', notification_config };
  const client = {
    region: 'eu1',
    async record(id: string, signal?: AbortSignal) {
      await read(id, signal);
      return { id, status: 'done', created_at: '2026-03-04T00:00:00.000Z', data_name: '', config };
    },
  };
  return { regions: ['eu1'], jobs: () => client } as unknown as SpeechClients;
}

describe('replays among replicas', () => {
  const cleanUp: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const each of cleanUp.splice(0).reverse()) await each();
  });

  async function replicas() {
    const folder = await temporaryFolder();
    cleanUp.push(() => folder.remove());
    const store = createFileStore({ directory: folder.path, partSize: 65_536, fsync: false });
    const ledger = createLedger({ store, replica: 'r' });
    cleanUp.push(() => ledger.close());
    const view = createLedgerView({ store });
    cleanUp.push(() => view.stop());
    const { archive } = archiveOver(store);
    const quarantine = createQuarantineStore(store);
    const release = { view, quarantine, archive, ledger, sources: new Map() };
    const recovery = {
      store,
      archive,
      ledger,
      view,
      publicUrl: null,
      window: HOUR,
      grace: 0,
      clock: Date.now,
      retained: NOTHING_EXPIRES,
      retention: HOUR,
      sources: { default: { contents: [], keyPrefix: '' } },
    };
    const replica = ({ record = async () => {}, concurrency = 2, ...options }: ReplicaOptions) => {
      const replays = createReplays({
        view,
        release,
        ledger,
        recovery: { ...recovery, concurrency, speech: serviceThat(record) },
        notify: { view, store, outbox: outboxOf(store, {}), subscribers: new Map() },
        replays: createReplayStore(store),
        owner: 'someone',
        busy: () => false,
        heartbeat: 20,
        lease: 200,
        ...options,
      });
      cleanUp.push(() => replays.stop());
      return replays;
    };
    return { replica, store, folder: folder.path };
  }
  const viewed = async (replays: Replays, id: string): Promise<ReplayInFull> => {
    const view = await replays.view(id);
    if (view === null) throw new Error('there is no such replay');
    return view;
  };
  const jobs = Array.from({ length: 8 }, (_, n) => `j${n}`);

  it('continues where a dead replica stopped, counting each item once', async () => {
    const { replica, store } = await replicas();
    const worked: string[] = [];
    const grave = new AbortController();
    const buried = new Promise<void>((resolve) => grave.signal.addEventListener('abort', () => resolve()));
    cleanUp.push(async () => grave.abort());
    let alive = true;
    const mortal = new Proxy(store, {
      get: (target, name: keyof ObjectStore) => {
        const member = target[name];
        if (typeof member !== 'function') return member;
        return alive ? member.bind(target) : async () => Promise.reject(new StoreError('use', 'dead'));
      },
    });
    const dying = replica({
      owner: 'dying',
      concurrency: 1,
      replays: createReplayStore(mortal),
      record: async (jobId) => {
        if (worked.length === 8) await buried;
        worked.push(jobId);
      },
    });
    const many = Array.from({ length: 13 }, (_, n) => `j${n}`);
    const id = await dying.create({ kind: 'refetch', jobs: many }, ORDER);
    void dying.run(id, grave.signal, () => {}).catch(() => undefined);
    await until(async () => (await dying.view(id))?.done === 8);
    alive = false;

    const record = async (jobId: string) => void worked.push(jobId);
    const others = [replica({ owner: 'other', record }), replica({ owner: 'third', record })];
    for (const other of others) other.start();
    await until(async () => (await others[0]?.view(id))?.state === 'done');
    expect(await others[0]?.view(id)).toMatchObject({
      state: 'done',
      total: 13,
      done: 13,
      outcomes: { matched: 13 },
      owner: expect.stringMatching(/other|third/),
    });
    expect(worked.slice(0, 8)).toEqual(many.slice(0, 8));
    // Both may have gone on with it at once, which does no harm.
    expect(new Set(worked.slice(8))).toEqual(new Set(many.slice(8)));
  });

  it('waits while live traffic needs the memory', async () => {
    const { replica } = await replicas();
    let busy = true;
    let asked = 0;
    let worked = 0;
    const replays = replica({
      busy: () => {
        asked += 1;
        return busy;
      },
      record: async () => {
        worked += 1;
      },
    });
    replays.start();
    const id = await replays.create({ kind: 'refetch', jobs }, ORDER);
    await until(() => asked > 4);
    expect(worked).toBe(0);
    busy = false;
    await until(async () => (await replays.view(id))?.state === 'done');
    expect(worked).toBe(8);
  });

  it('stays cancelled when its last items end before a heartbeat, and confirms it again', async () => {
    const { replica } = await replicas();
    let finish = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let worked = 0;
    const runner = replica({
      heartbeat: 60_000,
      concurrency: 3,
      record: async () => {
        worked += 1;
        await held;
      },
    });
    const id = await runner.create({ kind: 'refetch', jobs: jobs.slice(0, 3) }, ORDER);
    const run = runner.run(id, new AbortController().signal, () => {});
    await until(() => worked === 3);
    const answer = await replica({}).cancel(id, ORDER);
    expect(answer).toMatchObject({ state: 'cancelled' });
    finish();
    expect(await run).toBe('cancelled');
    const view = { state: 'cancelled', done: 3, finishedAt: null };
    expect(await runner.view(id)).toMatchObject(view);
    expect(await runner.cancel(id, ORDER)).toMatchObject(view);
  });

  it('stops working when it is cancelled on another replica', async () => {
    const { replica } = await replicas();
    let worked = 0;
    const runner = replica({
      concurrency: 1,
      record: async (_jobId, signal) => {
        worked += 1;
        if (worked > 2) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
        signal?.throwIfAborted();
      },
    });
    const id = await runner.create({ kind: 'refetch', jobs }, ORDER);
    const run = runner.run(id, new AbortController().signal, () => {});
    await until(() => worked > 2);
    await replica({}).cancel(id, ORDER);
    expect(await run).toBe('cancelled');
    expect(await runner.view(id)).toMatchObject({ state: 'cancelled', done: 2, failed: 0 });
  });

  it('leaves a replay to the replica that goes on with it', async () => {
    const { replica, store } = await replicas();
    let worked = 0;
    const runner = replica({
      record: async (_jobId, signal) => {
        worked += 1;
        await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      },
    });
    const id = await runner.create({ kind: 'refetch', jobs }, ORDER);
    const run = runner.run(id, new AbortController().signal, () => {});
    await until(() => worked > 0);
    const stored = createReplayStore(store);
    const state = (await stored.read(id))?.state as ReplayState;
    const taken = { ...state, owner: 'other', heartbeatAt: null };
    let hasEnded = false;
    void run.finally(() => {
      hasEnded = true;
    });
    // A heartbeat of the runner that is under way saves over the first one.
    while (!hasEnded) await stored.save(taken);
    expect(await run).toBe('superseded');
    expect((await stored.read(id))?.state).toEqual(taken);
  });

  it('names every failed item once, in its failures, the log and the ledger', async () => {
    const { replica, folder } = await replicas();
    const logged: string[] = [];
    const replays = replica({
      record: async (jobId) => {
        if (['j2', 'j5'].includes(jobId)) throw new SpeechError('unavailable', `read job ${jobId}`, 'no');
      },
      onReplayFailure: ({ item, reason }) => logged.push(`${item}: ${reason}`),
    });
    const id = await replays.create({ kind: 'refetch', jobs }, ORDER);
    expect(await replays.run(id, new AbortController().signal, () => {})).toBe('done');
    expect(await replays.view(id)).toMatchObject({ done: 6, failed: 2 });
    expect((await viewed(replays, id)).failures.map(({ item, reason }) => [item, reason])).toEqual([
      ['j2', 'read job j2: no'],
      ['j5', 'read job j5: no'],
    ]);
    expect(logged.toSorted()).toEqual(['j2: read job j2: no', 'j5: read job j5: no']);
    const lines = (await ledgerOf(folder)).filter(({ outcome }) => outcome === 'failed');
    expect(lines.map(({ jobId }) => jobId).sort()).toEqual(['j2', 'j5']);
  });

  it('keeps a small state however many jobs were named', async () => {
    const { replica, store } = await replicas();
    const replays = replica({});
    const many = Array.from({ length: 10_000 }, (_, n) => `job-with-a-long-name-${n}`);
    const id = await replays.create({ kind: 'refetch', jobs: many }, ORDER);
    expect((await store.head(`replays/${id}.json`))?.size).toBeLessThan(2000);
    expect(await replays.view(id)).toMatchObject({ total: 10_000 });
  });
});
