import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newDeliveryId } from '../../../src/ledger/ledger-line.js';
import type { Issue } from '../../../src/operations/issues/issues.js';
import { createFileStore } from '../../../src/store/file/file-store.js';
import type { Attempt } from '../../../src/subscribers/dead-event.js';
import { keepDeadEvent } from '../../../src/subscribers/dead-events.js';
import type { JobEvent, ReceiverEvent } from '../../../src/subscribers/receiver-event.js';
import { type RecordingServer, recordingServer } from '../../support/http/recording-server.js';
import { ledgerOf } from '../../support/ledger/ledger-of.js';
import { eventOf } from '../../support/outbox/subscribed.js';
import { type AdminApi, adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { until } from '../../support/until.js';

const SECRET = `whsec_${Buffer.alloc(32, 'subscriber').toString('base64')}`;
const TRANSCRIPT = '{"format":"2.9","results":[]}';
/** A tenth of the pauses of production: most of these tests wait for a retry. */
const QUICK = {
  poll: 500,
  busyPoll: 100,
  save: 200,
  heartbeat: 1000,
  retry: { firstPause: 500, longestPause: 360_000, total: 8_640_000 },
};
const JSON_TYPE = { 'content-type': 'application/json' };

let subscriber: RecordingServer;
let answer = 200;
let service: RunningService;
let api: AdminApi;

beforeAll(async () => {
  subscriber = await recordingServer(() => answer);
  const base = { secrets: [SECRET], events: ['job.stored', 'job.erased'] };
  const settings = {
    sources: { default: {}, other: {} },
    admin: {
      tokens: {
        scoped: { token: 'only-of-the-source-other', may: ['view', 'repair'], sources: ['other'] },
      },
    },
    subscribers: {
      crm: { ...base, url: `${subscriber.url}/hook/token-in-the-path?key=secret` },
      'default-only': { ...base, url: `${subscriber.url}/default-only`, sources: ['default'] },
      others: { ...base, url: `${subscriber.url}/others`, sources: ['other'] },
    },
  };
  service = await startService(settings, {}, QUICK);
  api = adminApi(service);
});
afterAll(async () => {
  await service.stop();
  await subscriber.close();
});
beforeEach(() => {
  answer = 200;
});

async function keepDead(
  name: string,
  jobId: string,
  source: string | null = 'default',
  how: Pick<Attempt, 'status' | 'error'> = { status: 404, error: null },
): Promise<JobEvent> {
  const event: JobEvent = {
    specversion: '1.0',
    id: newDeliveryId(),
    type: 'transcript-receiver.job.stored.v1',
    source: source === null ? '/callbacks' : `/callbacks/${source}`,
    subject: jobId,
    time: new Date().toISOString(),
    datacontenttype: 'application/json',
    data: {
      jobId,
      source,
      region: null,
      status: 'success',
      origin: 'callback',
      outcome: 'stored',
      context: {},
      items: [],
    },
  };
  const at = new Date().toISOString();
  const store = createFileStore({ directory: service.folder, partSize: 65_536, fsync: false });
  const attempt = { at, ...how, ...(how.status !== null && { answer: `of ${jobId}` }) };
  const times = { endedAt: at, firstTriedAt: at, attempts: 1, history: [attempt] };
  await keepDeadEvent(store, { v: 1, subscriber: name, event, reason: 'rejected', ...times });
  await store.close();
  return event;
}

const order = (selector: object, more: object = {}) =>
  api.post('/replays').send({ selector: { kind: 'notify', ...selector }, ...more });

async function run(selector: object) {
  const { body } = await order(selector);
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what came, whatever it is
  let view: any;
  await until(async () => {
    view = (await api.get(`/replays/${body.replayId}`)).body;
    return view.state !== 'running';
  });
  return view;
}

/** Verified events of the requests since a place in the recording. */
const eventsSince = (start: number) =>
  subscriber.requests.slice(start).map((request) => eventOf<ReceiverEvent>(request, SECRET));

describe('POST subscribers/:id/test', () => {
  it('sends a test event, and gives the beginning of the answer', async () => {
    const start = subscriber.requests.length;
    const accepted = await api.post('/subscribers/crm/test').send({});
    expect(accepted.body).toEqual({ at: expect.any(String), status: 200, error: null, delivered: true });
    answer = 401;
    const rejected = await api.post('/subscribers/crm/test').send({});
    expect(rejected.body).toMatchObject({ status: 401, answer: 'noted', delivered: false });
    expect(eventsSince(start).map(({ type }) => type)).toEqual(Array(2).fill('transcript-receiver.test.v1'));
    expect((await api.post('/subscribers/nobody/test').send({})).status).toBe(404);
  });
});

describe('GET subscribers', () => {
  it('shows each subscriber without what may be a secret, and what could not be sent', async () => {
    await keepDead('crm', 'shown-1');
    await keepDead('crm', 'shown-2');
    const { body, text } = await api.get('/subscribers');
    expect(body).toMatchObject({ nextCursor: null });
    expect(body.subscribers).toEqual([
      expect.objectContaining({ name: 'crm', url: subscriber.url, dead: 2, sources: [] }),
      expect.objectContaining({ name: 'default-only', sources: ['default'] }),
      expect.objectContaining({ name: 'others', dead: 0, sources: ['other'], retrying: 0 }),
    ]);
    expect(text).not.toMatch(/token-in-the-path|secret/);

    const first = await api.get('/subscribers/crm/dead?limit=1');
    const second = await api.get(`/subscribers/crm/dead?limit=1&cursor=${first.body.nextCursor}`);
    expect(first.body).toMatchObject({ nextCursor: expect.any(String) });
    const jobs = [first, second].map((page) => page.body.deadEvents[0].event.data.jobId);
    expect(jobs).toEqual(['shown-1', 'shown-2']);
    expect(second.body.nextCursor).toBeNull();
    expect(first.body.deadEvents[0]).toMatchObject({ reason: 'rejected', history: [{ status: 404 }] });
    expect((await api.get('/subscribers/nobody/dead')).status).toBe(404);
    expect((await api.get('/names')).body.subscribers).toEqual(['crm', 'default-only', 'others']);
  });

  it('is part of the verdict', async () => {
    await keepDead('crm', 'verdict');
    const dead = { topic: 'subscribers', level: 'warning', code: 'events-dead' };
    const issue = async () =>
      (await api.get('/health')).body.verdict.issues.find(({ code }: Issue) => code === dead.code);
    await until(async () => (await issue()) !== undefined);
    expect(await issue()).toMatchObject({ ...dead, params: { subscriber: 'crm' } });
  });

  it('shows a token of some sources the subscribers and events of these alone', async () => {
    await keepDead('crm', 'unseen');
    await keepDead('crm', 'seen', 'other');
    await keepDead('others', 'seen', 'other');
    const scoped = adminApi(service, 'only-of-the-source-other');
    const { body } = await scoped.get('/subscribers');
    expect(body.subscribers.map(({ name }: { name: string }) => name)).toEqual(['crm', 'others']);
    expect((await scoped.get('/names')).body.subscribers).toEqual(['crm', 'others']);
    expect((await scoped.get('/subscribers/default-only/dead')).status).toBe(404);
    expect((await scoped.get('/subscribers/crm/dead')).body.deadEvents).toHaveLength(1);
    expect((await scoped.get('/subscribers/others/dead')).body.deadEvents).toHaveLength(1);
    const selector = { kind: 'notify', subscriber: 'default-only', dead: true };
    const preview = await scoped.post('/replays').send({ selector, dryRun: true });
    expect(preview.body.detail).toBe('subscriber: "default-only" is not known; known are crm, others.');
  });

  it('shows a token of some sources the figures of these alone', async () => {
    const scoped = adminApi(service, 'only-of-the-source-other');
    const crmOf = async (client: AdminApi) => (await client.get('/subscribers')).body.subscribers[0];
    const before = { all: await crmOf(api), own: await crmOf(scoped) };
    for (const [n, source] of ['default', 'default', 'other'].entries())
      await sendCallback(service, `id=figures-${n}&status=success`, TRANSCRIPT, JSON_TYPE, source);
    await until(async () => (await crmOf(api)).sent === before.all.sent + 3);
    expect(await crmOf(scoped)).toMatchObject({ sources: ['other'], sent: before.own.sent + 1 });

    answer = 503;
    await sendCallback(service, 'id=figures-3&status=success', TRANSCRIPT, JSON_TYPE, 'default');
    await until(async () => (await crmOf(api)).retrying === 1);
    expect(await crmOf(scoped)).toMatchObject({ retrying: 0, retried: 0, lastError: null });
    answer = 200;
    await until(async () => (await crmOf(api)).retrying === 0);
  });
});

describe('an event that waits', () => {
  it('goes again alone, by its id', async () => {
    answer = 503;
    const { json } = await sendCallback(service, 'id=waits&status=success', TRANSCRIPT, JSON_TYPE);
    const id = json.deliveryId ?? '';
    const waiting = async () => (await api.get('/subscribers/crm/events?outcome=waiting')).body.events;
    await until(async () => (await waiting()).length === 1);
    const rejected = expect.objectContaining({ status: 503, error: null, answer: 'noted' });
    const tried = { event: id, status: 503, error: null, history: expect.arrayContaining([rejected]) };
    expect(await waiting()).toMatchObject([{ ...tried, jobId: 'waits' }]);
    const { events } = (await api.get('/jobs/waits')).body;
    expect(events).toContainEqual(expect.objectContaining({ ...tried, subscriber: 'crm' }));
    answer = 200;
    const another = await sendCallback(service, 'id=another&status=success', TRANSCRIPT, JSON_TYPE);
    const selector = { subscriber: 'crm', events: [id] };
    expect((await order(selector, { dryRun: true })).body).toMatchObject({ count: 1, jobs: ['waits'] });
    const start = subscriber.requests.length;
    expect(await run(selector)).toMatchObject({ total: 1, outcomes: { sent: 1 } });
    expect(eventsSince(start).map((event) => event.id)).toContain(id);
    await until(async () => (await waiting()).length === 0);
    expect((await order({ subscriber: 'crm', events: ['nonsense'] })).status).toBe(400);
    // By each of its subscribers before the next test answers otherwise, and by their senders, which do not know of the replay.
    const sent = () => eventsSince(0).filter((event) => event.id === another.json.deliveryId);
    await until(() => sent().length === 2);
    const retrying = async () =>
      (await api.get('/subscribers')).body.subscribers.map((one: { retrying: number }) => one.retrying);
    await until(async () => (await retrying()).every((events: number) => events === 0));
  });
});

describe('what a subscriber was sent', () => {
  it('is listed with each answer, and by the job; a token of some sources sees its own', async () => {
    const scoped = adminApi(service, 'only-of-the-source-other');
    const sent = async (client: AdminApi, query: string) =>
      (await client.get(`/subscribers/crm/events?${query}`)).body.events;
    answer = 410;
    await sendCallback(service, 'id=told-1&status=success', TRANSCRIPT, JSON_TYPE, 'other');
    await until(async () => (await sent(api, 'job=told-1&outcome=rejected')).length === 1);
    answer = 200;
    for (const name of ['crm', 'others']) await api.post(`/subscribers/${name}/test`).send({});
    const { json } = await sendCallback(
      service,
      'id=told-2&status=success',
      TRANSCRIPT,
      JSON_TYPE,
      'default',
    );
    await until(async () => (await sent(api, 'job=told-2')).length === 1);
    const [told] = await sent(api, 'job=told-2');
    const event = { event: json.deliveryId, type: 'job.stored', source: 'default', at: expect.any(String) };
    const how = { status: 200, error: null, attempts: 1, outcome: 'delivered', history: [] };
    expect(told).toEqual({ ...event, jobId: 'told-2', ...how, durationMs: expect.any(Number) });
    expect(await sent(scoped, 'job=told-2')).toEqual([]);
    expect(await sent(scoped, 'job=told-1')).toMatchObject([{ status: 410, outcome: 'rejected' }]);
    expect(await sent(api, `job=told-2&since=${told.at}`)).toHaveLength(1);
    expect(await sent(api, `job=told-2&until=${told.at}`)).toEqual([]);
    expect((await api.get('/subscribers/crm/events?outcome=nonsense')).status).toBe(400);
    expect((await scoped.get('/subscribers/default-only/events')).status).toBe(404);

    const toldOf = async (job: string, client = api) =>
      (await client.get(`/jobs/${job}`)).body.events.filter(
        ({ subscriber: name }: { subscriber: string }) => name === 'crm',
      );
    expect(await toldOf('told-2')).toEqual([{ subscriber: 'crm', ...event, ...how }]);
    expect(await toldOf('told-1', scoped)).toMatchObject([{ outcome: 'rejected' }]);
    const first = (await api.get('/subscribers/crm/events?limit=1')).body;
    const next = (await api.get(`/subscribers/crm/events?limit=1&cursor=${first.nextCursor}`)).body;
    expect(next.events[0].at <= first.events[0].at).toBe(true);
    for (const source of ['nobody', 'default'])
      expect((await scoped.get(`/subscribers/crm/events?source=${source}`)).status).toBe(400);
    for (const query of ['cursor=nonsense', 'since=2026-02-02&until=2026-02-02'])
      expect((await api.get(`/subscribers/crm/events?${query}`)).status).toBe(400);
    await run({ dead: true, jobs: ['told-1'] });
    await until(async () => (await toldOf('told-1'))[0]?.outcome === 'delivered');
    expect(await toldOf('told-1')).toMatchObject([{ status: 200, attempts: 2 }]);
  });
});

describe('a token of some sources', () => {
  // Such events lie there once the sources of a subscriber were changed, and from versions whose erasures had no source.
  it('counts, lists, pages and sends only the dead events of its sources', async () => {
    const scoped = adminApi(service, 'only-of-the-source-other');
    const known = async () => {
      const { subscribers } = (await scoped.get('/subscribers')).body;
      const { issues } = (await scoped.get('/health')).body.verdict;
      const isOfOthers = ({ params }: Issue) => params?.subscriber === 'others';
      return [
        subscribers.find(({ name }: { name: string }) => name === 'others').dead,
        issues.find(isOfOthers)?.params,
      ];
    };
    await run({ subscriber: 'others', dead: true });
    const foreign = [await keepDead('others', 'foreign-1'), await keepDead('others', 'no-source-1', null)];
    expect(await known()).toEqual([0, undefined]);
    const none = { deadEvents: [], nextCursor: null };
    expect((await scoped.get('/subscribers/others/dead')).body).toEqual(none);

    const own: JobEvent[] = [];
    for (const n of [1, 2, 3]) {
      own.push(await keepDead('others', `own-${n}`, 'other'));
      foreign.push(await keepDead('others', `foreign-${n + 1}`));
    }
    // An answer of the health is kept for a moment.
    await until(async () => (await known())[1] !== undefined);
    expect(await known()).toEqual([3, { subscriber: 'others', events: 3 }]);
    const pages: string[][] = [];
    const cursors: unknown[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await scoped.get(`/subscribers/others/dead?limit=2${query}`);
      pages.push(body.deadEvents.map(({ event }: { event: JobEvent }) => event.subject));
      cursor = body.nextCursor;
      if (cursor !== null) cursors.push(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    }
    expect(pages).toEqual([['own-1', 'own-2'], ['own-3']]);
    expect(cursors).toEqual([['dead', own[1]?.id]]);

    const start = subscriber.requests.length;
    const selector = { kind: 'notify', subscriber: 'others', dead: true };
    const { body } = await scoped.post('/replays').send({ selector });
    await until(async () => (await scoped.get(`/replays/${body.replayId}`)).body.state === 'done');
    expect(new Set(eventsSince(start).map(({ id }) => id))).toEqual(new Set(own.map(({ id }) => id)));
    await until(async () => (await known())[1] === undefined);
    expect((await known())[0]).toBe(0);
    const left = (await api.get('/subscribers/others/dead')).body.deadEvents;
    expect(left.map(({ event }: { event: JobEvent }) => event.id)).toEqual(foreign.map(({ id }) => id));
  });
});

describe('replays of events', () => {
  it('send dead events again with their ids, and remove those that arrive', async () => {
    const sent = await keepDead('crm', 'dead-again');
    await keepDead('crm', 'dead-again');
    const selector = { subscriber: 'crm', dead: true, jobs: ['dead-again'], events: [sent.id] };
    const preview = await order(selector, { dryRun: true });
    const bytes = Buffer.byteLength(JSON.stringify(sent));
    expect(preview.body).toEqual({ count: 1, bytes, jobs: ['dead-again'] });
    const start = subscriber.requests.length;
    expect(await run(selector)).toMatchObject({ state: 'done', done: 1, outcomes: { sent: 1 } });
    expect(eventsSince(start)).toEqual([sent]);
    expect((await order(selector, { dryRun: true })).body.count).toBe(0);
  });

  it('go to every subscriber that wants the event when none is named', async () => {
    await keepDead('crm', 'dead-anywhere');
    await keepDead('others', 'dead-anywhere', 'other');
    const start = subscriber.requests.length;
    const selector = { dead: true, jobs: ['dead-anywhere'] };
    expect(await run(selector)).toMatchObject({ done: 2, outcomes: { sent: 2 } });
    expect(eventsSince(start)).toHaveLength(2);
    expect((await order({ jobs: ['dead-anywhere'] }, { dryRun: true })).status).toBe(200);
  });

  it('keep dead events that are rejected again, and do not call their jobs failed', async () => {
    await keepDead('crm', 'rejected-again');
    answer = 410;
    const selector = { subscriber: 'crm', dead: true, jobs: ['rejected-again'] };
    expect(await run(selector)).toMatchObject({
      state: 'done',
      done: 0,
      failed: 1,
      outcomes: { rejected: 1 },
      failures: [{ jobId: 'rejected-again', outcome: 'rejected', reason: 'crm answered 410.' }],
    });
    expect((await order(selector, { dryRun: true })).body.count).toBe(1);
    const lines = await ledgerOf(service.folder);
    expect(lines.filter(({ jobId }) => jobId === 'rejected-again')).toEqual([]);
  });

  it('send the event of a ledger line again with its delivery id, oldest first', async () => {
    const ids: string[] = [];
    for (const job of ['line-1', 'line-2', 'line-3']) {
      const { json } = await sendCallback(service, `id=${job}&status=success`, TRANSCRIPT, JSON_TYPE);
      ids.push(json.deliveryId ?? '');
    }
    await sendCallback(service, 'id=line-1&status=success', TRANSCRIPT, JSON_TYPE);
    // What the receiver sends on its own comes first, so that the replay alone decides about the erased job.
    const arrived = () => subscriber.requests.map(({ headers }) => headers['webhook-id']);
    await until(() => ids.every((id) => arrived().includes(id)));
    await api.delete('/jobs/line-2').send({ reason: 'request of the data subject' });
    const jobs = ['line-1', 'line-2', 'line-3'];
    const preview = await order({ subscriber: 'crm', jobs }, { dryRun: true });
    expect(preview.body).toMatchObject({ count: 4, jobs: ['line-1', 'line-2', 'line-3'] });
    const start = subscriber.requests.length;
    expect(await run({ subscriber: 'crm', jobs })).toMatchObject({
      state: 'done',
      done: 4,
      failed: 0,
      outcomes: { sent: 3, gone: 1 },
    });
    const events = eventsSince(start);
    // The receiver announces the erasure on its own as well.
    const idsOf = (name: string) =>
      new Set(events.flatMap(({ type, id }) => (type === `transcript-receiver.${name}.v1` ? [id] : [])));
    expect(idsOf('job.stored')).toEqual(new Set([ids[0], ids[2]]));
    expect(idsOf('job.erased').size).toBe(1);
    const one = await order({ subscriber: 'others', jobs }, { dryRun: true });
    expect(one.body).toMatchObject({ count: 0 });
  });

  it('tell a subscriber of some sources of the erasures of these alone', async () => {
    const start = subscriber.requests.length;
    for (const source of ['default', 'other'])
      await sendCallback(service, `id=erased-${source}&status=success`, TRANSCRIPT, JSON_TYPE, source);
    await sendCallback(service, 'id=erased-both&status=success', TRANSCRIPT, JSON_TYPE, 'default');
    await sendCallback(service, 'id=erased-both&status=success', TRANSCRIPT, JSON_TYPE, 'other');
    const jobs = ['erased-default', 'erased-both', 'erased-other'];
    await Promise.all(jobs.map((job) => api.delete(`/jobs/${job}`)));
    const told = (path: string) =>
      subscriber.requests.slice(start).flatMap(({ url, body }) => {
        const { type, source, subject } = JSON.parse(body.toString()) as JobEvent;
        // An earlier test's erasure may be announced as late as now.
        if (!url.startsWith(path) || !type.includes('erased') || !subject?.startsWith('erased-')) return [];
        return [`${subject} ${source.slice('/callbacks/'.length)}`];
      });
    await until(() => told('/hook').length >= 4 && told('/others').length >= 2);
    expect(told('/hook').sort()).toEqual([
      'erased-both default',
      'erased-both other',
      'erased-default default',
      'erased-other other',
    ]);
    expect(told('/others').sort()).toEqual(['erased-both other', 'erased-other other']);
  });

  it.each([
    ['for an unknown subscriber', { subscriber: 'nobody' }, 'known are crm, default-only, others.'],
    ['without a filter', { subscriber: 'crm' }, 'needs jobs, events, a time or another filter'],
    ['of another kind', { kind: 'release', subscriber: 'crm' }, 'belong to replays of the kind notify.'],
    ['by a cause', { subscriber: 'crm', dead: true, cause: '410' }, 'cause selects failing jobs to refetch'],
    ['with dead: false', { subscriber: 'crm', dead: false }, ''],
  ])('are rejected %s', async (_case, selector, detail) => {
    const { status, body } = await order(selector, { dryRun: true });
    expect(status).toBe(400);
    expect(body.detail).toContain(detail);
  });
});
