import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { erasureKey, outboxClaimKey } from '../../../src/archive/layout.js';
import { indexInThread } from '../../../src/index/fill/index-in-thread.js';
import { createLedgerView } from '../../../src/index/ledger-view.js';
import { segmentKey } from '../../../src/ledger/segment-key.js';
import { createLedger } from '../../../src/ledger/write/ledger.js';
import { createDeadEventCounter } from '../../../src/operations/admin/subscribers/count-dead-events.js';
import { listSubscribers } from '../../../src/operations/admin/subscribers/list-subscribers.js';
import type { SubscriberFigures } from '../../../src/operations/answers/subscribers.js';
import { type ObjectStore, StoreError } from '../../../src/store/object-store.js';
import { purgeEventsOf } from '../../../src/subscribers/dead-events.js';
import { beginningOf } from '../../../src/subscribers/follow/ledger-follower.js';
import { jobEventOf } from '../../../src/subscribers/job-event.js';
import { newOutboxState } from '../../../src/subscribers/outbox-state.js';
import type { JobEvent } from '../../../src/subscribers/receiver-event.js';
import type { Subscriber } from '../../../src/subscribers/subscriber.js';
import type { OutboxTimes } from '../../../src/subscribers/subscriber-run.js';
import {
  type RecordedRequest,
  type RecordingServer,
  recordingServer,
} from '../../support/http/recording-server.js';
import {
  eventOf,
  FAST,
  type ObservedOutbox,
  OTHER_SECRET,
  outboxOf,
  SECRET,
  storedLine,
  subscriberAt,
} from '../../support/outbox/subscribed.js';
import { createMemoryStore, type MemoryStore } from '../../support/store/memory-store.js';
import { until } from '../../support/until.js';

const running: { stop(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.stop();
});

interface Given {
  readonly store?: MemoryStore;
  readonly answer?: (index: number, request: RecordedRequest) => number | Promise<number>;
  readonly settings?: Partial<Subscriber>;
  readonly times?: OutboxTimes;
}

/** The figures of the subscribers, as the admin API has them. */
function figuresOf(store: MemoryStore, outbox: ObservedOutbox): () => Promise<SubscriberFigures[]> {
  const view = createLedgerView({ store, startIndex: indexInThread });
  const countDead = createDeadEventCounter(store, view.sent);
  running.push(view);
  return () => listSubscribers({ outbox, view, countDead, fresh: view.refresh });
}

interface Subscribed {
  /** The first of them. */
  figures(): Promise<SubscriberFigures | undefined>;
  readonly store: MemoryStore;
  readonly server: RecordingServer;
  readonly outbox: ObservedOutbox;
  append(...lines: ReturnType<typeof storedLine>[]): Promise<void>;
}

async function subscribed({
  store = createMemoryStore(),
  answer,
  settings,
  times = FAST,
}: Given = {}): Promise<Subscribed> {
  const server = await recordingServer(answer);
  running.push({ stop: () => server.close() });
  const outbox = outboxOf(store, { crm: subscriberAt(server.url, settings) }, { times });
  outbox.start();
  running.push(outbox);
  await until(async () => (await outbox.statuses())[0]?.sender === 'replica-a');
  const ledger = createLedger({ store, replica: 'replica-a' });
  const figures = figuresOf(store, outbox);
  return {
    store,
    server,
    outbox,
    figures: async () => (await figures())[0],
    append: async (...lines) => {
      await Promise.all(lines.map((line) => ledger.append(line)));
    },
  };
}

const itemOf = (job: string, outcome: 'created' | 'identical') => ({
  kind: 'transcript.json-v2' as const,
  key: `jobs/${job}/transcript.json`,
  size: 2,
  sha256: 'ab',
  outcome,
});

const linesOf = (body: Buffer): Record<string, unknown>[] =>
  body
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const idsOf = ({ requests }: RecordingServer) => requests.map((request) => eventOf(request).id);

describe('a subscriber', () => {
  it('is sent what is stored after it was configured, signed with every secret', async () => {
    const store = createMemoryStore();
    const before = storedLine();
    await createLedger({ store, replica: 'r' }).append(before);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { server, append } = await subscribed({ store, settings: { secrets: [SECRET, OTHER_SECRET] } });
    const line = storedLine({ context: { call: '7' } });
    await append(line);
    await until(() => server.requests.length > 0);
    const [request] = server.requests;
    if (request === undefined) throw new Error('no request');
    expect(request.headers['content-type']).toBe('application/cloudevents+json');
    expect(eventOf(request, OTHER_SECRET)).toEqual(eventOf(request));
    expect(eventOf(request)).toMatchObject({
      specversion: '1.0',
      id: line.deliveryId,
      type: 'transcript-receiver.job.stored.v1',
      data: { jobId: line.jobId, context: { call: '7' } },
    });
    expect(idsOf(server)).toEqual([line.deliveryId]);
  });

  it('is sent an event again until it is accepted, always with the same id', async () => {
    const { server, figures, append } = await subscribed({
      answer: (index) => [503, 429, 408, 425, 200][index] ?? 200,
    });
    const line = storedLine();
    await append(line);
    await until(() => server.requests.length === 5);
    expect(idsOf(server)).toEqual(Array(5).fill(line.deliveryId));
    await until(async () => (await figures())?.sent === 1);
    // The state of the sender is saved after what it sent is on record.
    await until(async () => (await figures())?.retrying === 0);
    expect(await figures()).toMatchObject({ sent: 1, untried: 0, retried: 4, lagSeconds: 0 });
  });

  it.each([400, 404, 302])('that answers %i once is sent the event again', async (status) => {
    const { server, outbox, figures, append } = await subscribed({
      answer: (index) => (index < 2 ? status : 200),
    });
    const line = storedLine();
    await append(line);
    await until(async () => (await figures())?.sent === 1);
    expect(idsOf(server)).toEqual(Array(3).fill(line.deliveryId));
    expect(outbox.dead).toEqual([]);
  });

  it('that answers 410 ends the event, which is kept, and is left alone until an operator sends it with success', async () => {
    const { store, server, outbox, append } = await subscribed({
      answer: (index) => (index === 0 ? 410 : 200),
    });
    const line = storedLine();
    await append(line);
    await until(() => outbox.dead.length === 1);
    const [dead] = (await outbox.deadEvents('crm', { limit: 10 })).deadEvents;
    expect(dead).toMatchObject({
      v: 1,
      subscriber: 'crm',
      reason: 'rejected',
      attempts: 1,
      history: [{ status: 410, error: null, answer: 'noted' }],
      event: { id: line.deliveryId, subject: line.jobId },
    });
    expect(server.requests.length).toBe(1);
    expect(outbox.breakers).toEqual([true]);
    if (dead === undefined) throw new Error('no dead event');
    await expect(outbox.send('crm', dead.event, new AbortController().signal)).resolves.toMatchObject({
      delivered: true,
      status: 200,
    });
    expect(idsOf(server)).toEqual([line.deliveryId, line.deliveryId]);
    expect(await outbox.deadEvent('crm', line.deliveryId)).toBeNull();
    expect([...store.objects.keys()].filter((key) => key.includes(line.deliveryId))).toEqual([]);
    expect(outbox.breakers).toEqual([true, false]);
    const next = storedLine();
    await append(next);
    await until(() => idsOf(server).includes(next.deliveryId));
  });

  it('is sent what comes again once another process has sent an event with success', async () => {
    const { store, server, outbox, append } = await subscribed({
      answer: (index) => (index === 0 ? 410 : 200),
    });
    await append(storedLine());
    await until(async () => (await outbox.statuses())[0]?.breaker === 'open');
    const [dead] = (await outbox.deadEvents('crm', { limit: 10 })).deadEvents;
    if (dead === undefined) throw new Error('no dead event');
    const command = outboxOf(store, { crm: subscriberAt(server.url) }, { owner: 'command' });
    running.push(command);
    expect(await command.send('crm', dead.event, new AbortController().signal)).toMatchObject({
      delivered: true,
    });
    await until(async () => (await outbox.statuses())[0]?.breaker === 'closed');
    const next = storedLine();
    await append(next);
    await until(() => idsOf(server).includes(next.deliveryId));
  });

  it('is sent what is older by replays alone: one that fails is kept, others are left to its sender', async () => {
    let status = 500;
    const { store, outbox } = await subscribed({ answer: () => status });
    const send = (event: JobEvent) => outbox.send('crm', event, new AbortController().signal);
    const kept = async () => (await outbox.deadEvents('crm', { limit: 10 })).deadEvents;
    const [older, own] = [storedLine({ receivedAt: '2026-01-02T03:04:05.678Z' }), storedLine()].map((line) =>
      jobEventOf(line, store.location),
    );
    if (!older || !own) throw new Error('no event');
    expect(await outbox.send('crm', older, AbortSignal.abort())).toMatchObject({ delivered: false });
    await send(own);
    await send(older);
    await send(older);
    const history = [{ status: 500, error: null, answer: 'noted' }];
    expect(await kept()).toMatchObject([{ event: older, reason: 'failed', attempts: 1, history }]);
    expect(outbox.dead).toHaveLength(1);
    status = 200;
    await send(older);
    expect(await kept()).toEqual([]);
    await outbox.stop();
    const sent = [...store.objects].filter(([key]) => key.startsWith('outbox/crm/sent/'));
    const attempts = sent.flatMap(([, { body }]) => linesOf(body)).map(({ event, ended }) => [event, ended]);
    expect(attempts).toEqual([
      [own.id, 'failed'],
      [older.id, 'failed'],
      [older.id, 'failed'],
      [older.id, 'delivered'],
    ]);
  });

  it('is sent again by its sender what was in flight while it was new, so a replay that fails does not keep it', async () => {
    const { store, outbox, append } = await subscribed({ answer: () => 500 });
    const line = storedLine({ receivedAt: '2026-01-02T03:04:05.678Z' });
    const event = jobEventOf(line, store.location);
    if (!event) throw new Error('no event');
    await append(line);
    await until(async () => (await outbox.statuses())[0]?.waiting.length === 1);
    expect(await outbox.send('crm', event, new AbortController().signal)).toMatchObject({ status: 500 });
    expect((await outbox.deadEvents('crm', { limit: 10 })).deadEvents).toEqual([]);
  });

  it('that is gone leaves new events untried, and all of them are counted, whether they were read or not', async () => {
    const { server, outbox, figures, append } = await subscribed({
      answer: (index) => (index === 0 ? 410 : 200),
    });
    await append(storedLine());
    const status = figures;
    await until(async () => (await status())?.breaker === 'open');
    await append(storedLine());
    await until(async () => (await status())?.untried === 1);
    const { openSince = null, pausedUntil = null } = (await status()) ?? {};
    expect(Math.round((Date.parse(pausedUntil ?? '') - Date.parse(openSince ?? '')) / 60_000)).toBe(5);
    await append(...Array.from({ length: 40 }, () => storedLine()));
    await until(async () => (await status())?.untried === 41);
    await append(storedLine());
    expect(await status()).toMatchObject({ untried: 42, dead: 1, pausedUntil });
    const [dead] = (await outbox.deadEvents('crm', { limit: 10 })).deadEvents;
    if (dead === undefined) throw new Error('no dead event');
    await outbox.send('crm', dead.event, new AbortController().signal);
    await until(() => new Set(idsOf(server)).size === 43);
    await until(async () => (await status())?.untried === 0);
    await until(async () => (await status())?.pausedUntil === null);
    await outbox.stop();
    await append(storedLine());
    expect(await status()).toMatchObject({ sender: null, untried: 1, sent: 43, dead: 0 });
  });

  it('whose state is damaged is named, answers replays, and begins again once the state and its claims are deleted', async () => {
    const store = createMemoryStore();
    const folder = 'outbox/crm/';
    for (const name of ['state.json', ...[1, 2, 3].map((n) => `claim-00000000${n}.json`)])
      await store.replace(`${folder}${name}`, Buffer.from('{"v":1'), { contentType: 'a/b', metadata: {} });
    const server = await recordingServer(() => 503);
    running.push({ stop: () => server.close() });
    const both = { crm: subscriberAt(server.url), others: subscriberAt(server.url) };
    const outbox = outboxOf(store, both, { lease: 600_000 });
    outbox.start();
    running.push(outbox);
    await until(async () => (await outbox.statuses())[1]?.sender === 'replica-a');
    expect(await outbox.statuses()).toMatchObject([
      { name: 'crm', stateDamaged: true, sender: null },
      { name: 'others', stateDamaged: false },
    ]);
    const event = jobEventOf(storedLine(), store.location);
    if (!event) throw new Error('no event');
    expect(await outbox.send('crm', event, new AbortController().signal)).toMatchObject({ status: 503 });
    for await (const { key } of store.list(folder)) await store.delete(key);
    await until(async () => (await outbox.statuses())[0]?.sender === 'replica-a');
  });

  it('that fails for longer than events are tried again is left alone; the event is kept with its first and last attempts', async () => {
    const { server, outbox, figures, append } = await subscribed({
      answer: () => 500,
      times: { ...FAST, retry: { firstPause: 1, longestPause: 10, total: 2000 } },
    });
    const line = storedLine();
    await append(line);
    await until(() => outbox.dead.length === 1);
    const [dead] = outbox.dead;
    expect(dead).toMatchObject({
      reason: 'expired',
      event: { id: line.deliveryId },
      attempts: server.requests.length,
    });
    expect(dead?.history.length).toBe(Math.min(8, server.requests.length));
    expect(outbox.breakers).toEqual([true]);
    const one = await figures();
    expect(one).toMatchObject({ breaker: 'open', dead: 1, lastError: { status: 500, error: null } });
  });

  it.each([
    ['one event waits', 1],
    ['it is paused', 5],
  ])('is sent what waits although the clock was set back by a day while %s', async (_, events) => {
    let offset = 86_400_000;
    let isDown = true;
    const { now } = Date;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + offset);
    try {
      const retry = { firstPause: 500, longestPause: 500, total: 3_600_000 };
      const answer = () => (isDown ? 503 : 200);
      const { outbox, append } = await subscribed({ answer, times: { ...FAST, retry } });
      const status = async () => (await outbox.statuses())[0];
      await append(...Array.from({ length: events }, () => storedLine()));
      await until(async () => (await status())?.waiting.length === events);
      [offset, isDown] = [0, false];
      await until(async () => (await status())?.waiting.length === 0);
    } finally {
      clock.mockRestore();
    }
  });

  it('that hangs is sent the event again after its request time-out', async () => {
    const { server, figures, append } = await subscribed({
      answer: (index) => (index === 0 ? new Promise(() => undefined) : 200),
      settings: { requestTimeout: 500 },
    });
    const line = storedLine();
    await append(line);
    await until(async () => (await figures())?.sent === 1);
    expect((await figures())?.lastError?.error).toBe('timeout');
    expect(new Set(idsOf(server))).toEqual(new Set([line.deliveryId]));
  });

  it('that cannot be reached is tried again, too', async () => {
    const { server, figures, append } = await subscribed({ settings: { url: 'http://127.0.0.1:9/' } });
    await append(storedLine());
    await until(async () => ((await figures())?.retried ?? 0) > 1);
    expect((await figures())?.lastError?.error).toBe('ECONNREFUSED');
    expect(server.requests).toEqual([]);
  });

  it('that ends its connections is reported as a failure of the network', async () => {
    const closing = createServer((socket) => socket.once('data', () => socket.destroy()));
    closing.listen(0, '127.0.0.1');
    await once(closing, 'listening');
    try {
      const { port } = closing.address() as AddressInfo;
      const { figures, append } = await subscribed({ settings: { url: `http://127.0.0.1:${port}/` } });
      await append(storedLine());
      await until(async () => (await figures())?.lastError?.error === 'network');
    } finally {
      closing.close();
    }
  });

  it('is sent only what it asks for', async () => {
    const { server, append } = await subscribed({ settings: { events: ['job.failed'], sources: ['a'] } });
    const failed = { status: 'error', outcome: 'noted', items: [] } as const;
    const wanted = storedLine({ ...failed, source: 'a' });
    await append(storedLine({ source: 'a' }), storedLine({ ...failed, source: 'b' }), wanted);
    await until(() => server.requests.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(idsOf(server)).toEqual([wanted.deliveryId]);
  });

  it('is sent what comes after an event that it never accepts', async () => {
    const poison = storedLine();
    const { server, append, outbox } = await subscribed({
      answer: (_, request) => (eventOf(request).id === poison.deliveryId ? 500 : 204),
      times: { ...FAST, retry: { firstPause: 1, longestPause: 5, total: 1e9 } },
    });
    await append(poison);
    await until(() => outbox.breakers.includes(true));
    const line = storedLine();
    await append(line);
    await until(() => idsOf(server).includes(line.deliveryId));
  });

  it('is sent what comes while many times as many events wait as are kept in memory; the next replica sends those, all once', async () => {
    let isBad = ({ jobId }: { readonly jobId: string }) => jobId.startsWith('bad-');
    const { store, server, outbox, figures, append } = await subscribed({
      answer: (_, request) => (isBad(eventOf(request).data) ? 422 : 200),
      times: { ...FAST, retry: { firstPause: 1_000, longestPause: 60_000, total: 1e9 } },
    });
    const good = Array.from({ length: 400 }, (_, n) => storedLine({ jobId: `good-${n}` }));
    const bad = Array.from({ length: 800 }, (_, n) => storedLine({ jobId: `bad-${n}` }));
    for (const [n, line] of good.entries()) await append(line, ...bad.slice(2 * n, 2 * n + 2));
    const sent = (lines: typeof good) => {
      const ids = new Set(lines.map(({ deliveryId }) => deliveryId));
      return idsOf(server).filter((id) => ids.has(id));
    };
    await until(() => sent(good).length >= good.length);
    expect(sent(good).sort()).toEqual(good.map(({ deliveryId }) => deliveryId));
    await until(async () => (await figures())?.retrying === 800);
    await outbox.stop();
    expect((await outbox.statuses())[0]?.waiting.length).toBeLessThan(300);

    isBad = () => false;
    const start = server.requests.length;
    const second = outboxOf(store, { crm: subscriberAt(server.url) }, { owner: 'replica-b' });
    second.start();
    running.push(second);
    await until(async () => (await figures())?.retrying === 0);
    expect(idsOf(server).slice(start).sort()).toEqual(bad.map(({ deliveryId }) => deliveryId));
    await second.stop();
    expect([...store.objects.keys()].filter((key) => key.includes('/waiting/'))).toEqual([]);
  });

  it('is sent the repetition of a delivery that stored its artefacts and has no line, and no other repetition', async () => {
    let fails = 1;
    const store = createMemoryStore((operation, key) => {
      if (operation === 'head' && key.startsWith('jobs/c/') && fails-- > 0)
        throw new StoreError(operation, 'away');
    });
    // One after the other, so that the last one to arrive is the last.
    const { server, append } = await subscribed({ store, settings: { maxInFlight: 1 } });
    const first = storedLine({ jobId: 'a', items: [itemOf('a', 'created')] });
    const lost = storedLine({ jobId: 'b' });
    // The store fails at its repetition, which is read again with that of b before it.
    const beside = storedLine({ jobId: 'c' });
    for (const { jobId, deliveryId } of [first, lost, beside])
      await store.create(`jobs/${jobId}/transcript.json`, Buffer.from('{}'), {
        contentType: 'application/json',
        metadata: { 'delivery-id': deliveryId },
      });
    const repeated = (job: string) =>
      storedLine({ jobId: job, outcome: 'duplicate', items: [itemOf(job, 'identical')] });
    await append(repeated('a'), first);
    await append(repeated('b'), repeated('c'));
    await append(repeated('b'));
    const last = storedLine();
    await append(last);
    await until(() => idsOf(server).includes(last.deliveryId));
    const [event] = server.requests
      .map((request) => eventOf(request))
      .filter(({ subject }) => subject === 'b');
    expect(event).toMatchObject({ id: lost.deliveryId, data: { outcome: 'stored' } });
    expect(idsOf(server).sort()).toEqual([first, lost, beside, last].map((line) => line.deliveryId).sort());
  });

  it('is sent no more than its bounds allow at the same time', async () => {
    let open = 0;
    let most = 0;
    const store = createMemoryStore();
    const server = await recordingServer(async () => {
      open += 1;
      most = Math.max(most, open);
      await until(() => most >= 3);
      // A fourth one would come meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 5));
      open -= 1;
      return 200;
    });
    const outbox = outboxOf(store, { crm: subscriberAt(server.url, { maxInFlight: 3 }) });
    outbox.start();
    running.push({ stop: () => server.close() }, outbox);
    await until(async () => (await outbox.statuses())[0]?.sender === 'replica-a');
    const ledger = createLedger({ store, replica: 'r' });
    await Promise.all(Array.from({ length: 40 }, () => ledger.append(storedLine())));
    const figures = figuresOf(store, outbox);
    await until(async () => (await figures())[0]?.sent === 40);
    expect(most).toBe(3);
  });

  it('of an erased job that was down is not sent what came before the erasure', async () => {
    let isDown = true;
    const { store, server, append } = await subscribed({ answer: () => (isDown ? 503 : 200) });
    // With five failures in a row new events wait untried.
    await append(...Array.from({ length: 5 }, (_, n) => storedLine({ jobId: `before-${n}` })));
    await until(() => server.requests.length >= 5);
    await append(storedLine({ jobId: 'gone' }), storedLine({ jobId: 'stays' }));
    store.put(erasureKey('gone'), '{}');
    await append(storedLine({ jobId: 'gone', outcome: 'erased', items: [] }));
    const start = server.requests.length;
    isDown = false;
    const sent = () => server.requests.slice(start).map((request) => eventOf(request).data);
    await until(() => sent().some(({ jobId, outcome }) => jobId === 'gone' && outcome === 'erased'));
    await until(() => sent().some(({ jobId }) => jobId === 'stays'));
    expect(sent().filter(({ jobId }) => jobId === 'gone')).toMatchObject([{ outcome: 'erased' }]);
  });

  it('of an erased job: what waits is dropped, what is dead is deleted, the erasure is announced', async () => {
    let status = 400;
    const { store, server, outbox, append } = await subscribed({
      answer: (_, request) => (eventOf(request).data.outcome === 'erased' ? 200 : status),
      times: { ...FAST, retry: { firstPause: 1, longestPause: 5, total: 100 } },
    });
    await append(storedLine({ jobId: 'dies' }), storedLine({ jobId: 'other' }));
    await until(() => outbox.dead.length === 2);
    await outbox.stop();
    // Its events do not end by their age, so that one waits however busy the machine is.
    const patient = outboxOf(store, { crm: subscriberAt(server.url) });
    patient.start();
    running.push(patient);
    status = 503;
    await append(storedLine({ jobId: 'waits' }));
    await until(async () => (await patient.statuses())[0]?.waiting.length === 1);
    for (const jobId of ['waits', 'dies']) {
      store.put(erasureKey(jobId), '{}');
      for await (const _ of purgeEventsOf(store, jobId));
      await append(storedLine({ jobId, outcome: 'erased', items: [], source: null }));
    }
    await until(
      () => server.requests.filter((request) => eventOf(request).data.outcome === 'erased').length === 2,
    );
    await until(async () => (await patient.statuses())[0]?.waiting.length === 0);
    const dead = (await patient.deadEvents('crm', { limit: 10 })).deadEvents;
    expect(dead.map(({ event }) => event.subject)).toEqual(['other']);
    expect([...store.objects.keys()].filter((key) => key.startsWith('.outbox-jobs/dies/'))).toEqual([]);
  });
});

describe('a subscriber whose sources change', () => {
  it('is not sent what waits of a former source; its figures are those of the present ones', async () => {
    const store = createMemoryStore();
    let isDown = true;
    const server = await recordingServer((_, request) =>
      isDown && eventOf(request).data.source === 'b' ? 500 : 200,
    );
    running.push({ stop: () => server.close() });
    const following = (sources: string[]) =>
      outboxOf(store, { crm: subscriberAt(server.url, { sources }) }, { lease: 60_000 });
    const figures = async (outbox: ObservedOutbox) => {
      const [one] = await figuresOf(store, outbox)();
      if (one === undefined) throw new Error('no subscriber');
      const { sent, retried, retrying, lastSentAt, lastError } = one;
      return { sent, retrying, retried, lastSentAt, lastError };
    };
    const ledger = createLedger({ store, replica: 'r' });

    const both = following(['a', 'b']);
    both.start();
    running.push(both);
    await until(async () => (await both.statuses())[0]?.sender === 'replica-a');
    const own = storedLine({ source: 'a' });
    const former = storedLine({ source: 'b' });
    await Promise.all([own, former].map((line) => ledger.append(line)));
    await until(async () => {
      const { sent, retrying, retried } = await figures(both);
      return sent === 1 && retrying === 1 && retried > 0;
    });
    await both.stop();

    isDown = false;
    const one = following(['a']);
    const ofOwn = { retrying: 0, retried: 0, lastSentAt: expect.any(String), lastError: null };
    expect(await figures(one)).toEqual({ ...ofOwn, sent: 1 });
    const start = server.requests.length;
    one.start();
    running.push(one);
    const next = storedLine({ source: 'a' });
    await ledger.append(next);
    await until(async () => (await figures(one)).sent === 2);
    await one.stop();
    expect(idsOf(server).slice(start)).toEqual([next.deliveryId]);
    expect(await figures(one)).toEqual({ ...ofOwn, sent: 2 });
    const ofFormer = { sent: 0, retrying: 0, lastSentAt: null, lastError: { status: 500 } };
    expect(await figures(following(['b']))).toMatchObject(ofFormer);
  });
});

describe('an outbox without subscribers', () => {
  it('makes no request of the store', async () => {
    const store = createMemoryStore();
    const outbox = outboxOf(store, {});
    outbox.start();
    outbox.wake();
    expect(await outbox.statuses()).toEqual([]);
    await outbox.stop();
    expect(store.calls).toEqual([]);
  });
});

/** The state of a replica that died: of two batches one is gone, and a third document is not of the state. */
async function withBatches() {
  const store = createMemoryStore();
  const line = storedLine();
  const segment = { hour: 'dt=2026-03-04/hour=05/', writer: 'w', number: 1 };
  store.put(segmentKey(segment), `${JSON.stringify(line)}\n`);
  const { deliveryId: id, jobId, receivedAt, source } = line;
  const times = { firstTriedAt: 1, nextTryAt: 1, attempts: 1, history: [] };
  const events = [{ id, jobId, segment, receivedAt, source, ...times }];
  const bySource = [{ source, events: 1, oldest: Date.now() }];
  const batches = [1, 2].map((dueAt) => ({ name: `1-${dueAt}`, dueAt, bySource }));
  const beginning = await beginningOf(store, Date.now());
  const state = { ...newOutboxState(Date.now(), beginning), claim: 1, batches };
  store.put('outbox/crm/state.json', JSON.stringify(state));
  for (const name of ['1-2', '1-3'])
    store.put(`outbox/crm/waiting/${name}.json`, JSON.stringify({ v: 1, events }));
  return { store, line };
}

describe('several replicas', () => {
  it('share a subscriber: one sends, and another goes on at once when it stops', async () => {
    const store = createMemoryStore();
    const server = await recordingServer();
    running.push({ stop: () => server.close() });
    const both = ['replica-a', 'replica-b'].map((owner) =>
      outboxOf(store, { crm: subscriberAt(server.url) }, { owner, lease: 60_000 }),
    );
    for (const each of both) each.start();
    running.push(...both);
    const ledger = createLedger({ store, replica: 'r' });
    const sender = async () => (await both[0]?.statuses())?.[0]?.sender ?? null;
    await until(async () => (await sender()) !== null);
    const lines = [storedLine(), storedLine()];
    const [first, second] = lines;
    if (!first || !second) throw new Error('no lines');
    await ledger.append(first);
    await until(() => server.requests.length === 1);
    const before = await sender();
    await both.find((_, index) => before === ['replica-a', 'replica-b'][index])?.stop();
    await until(async () => ![null, before].includes(await sender()));
    await ledger.append(second);
    await until(() => server.requests.length === 2);
    expect(idsOf(server)).toEqual(lines.map(({ deliveryId }) => deliveryId));
  });

  it('go on with what was read and not tried', async () => {
    const { store, server, outbox, figures, append } = await subscribed({
      answer: (index) => (index === 0 ? 410 : 200),
    });
    await append(storedLine());
    await until(async () => (await outbox.statuses())[0]?.breaker === 'open');
    const lines = [storedLine(), storedLine()];
    await append(...lines);
    await until(async () => (await figures())?.untried === 2);
    await outbox.stop();
    const next = outboxOf(store, { crm: subscriberAt(server.url) }, { owner: 'replica-b' });
    next.start();
    running.push(next);
    await until(() => lines.every(({ deliveryId }) => idsOf(server).includes(deliveryId)));
  });

  it.each(['create', 'replace'])('begin although the first %s fails', async (failing) => {
    let failures = 1;
    const store = createMemoryStore((operation) => {
      if (operation === failing && failures-- > 0) throw new StoreError(operation, 'the network failed');
    });
    const server = await recordingServer();
    running.push({ stop: () => server.close() });
    const outbox = outboxOf(store, { crm: subscriberAt(server.url) }, { lease: 600_000 });
    outbox.start();
    running.push(outbox);
    await until(() => outbox.sending.size === 1);
  });

  it('go on at once under the name of the process that died', async () => {
    const store = createMemoryStore();
    const server = await recordingServer();
    running.push({ stop: () => server.close() });
    let isDead = false;
    const dying: ObjectStore = {
      ...store,
      replace: async (...write) => (isDead ? new Promise(() => undefined) : store.replace(...write)),
    };
    const subscribers = { crm: subscriberAt(server.url) };
    const first = outboxOf(dying, subscribers, { lease: 600_000 });
    first.start();
    await until(() => first.sending.size === 1);
    isDead = true;
    const second = outboxOf(store, subscribers, { lease: 600_000 });
    second.start();
    running.push(second);
    await until(() => second.sending.size === 1);
    await until(() => first.sending.size === 0);
  });

  it.each([
    ['itself before, at once', JSON.stringify({ owner: 'replica-a', mark: 'x' }), 600_000],
    ['another one, after the lease', JSON.stringify({ owner: 'other', mark: 'x' }), 50],
    ['one that is not known, after the lease', '', 50],
  ])('take over from one that died between its claim and its state: %s', async (_, claim, lease) => {
    const store = createMemoryStore();
    store.put(outboxClaimKey('crm', 1), claim);
    const outbox = outboxOf(store, { crm: subscriberAt('http://127.0.0.1:9/') }, { lease });
    outbox.start();
    running.push(outbox);
    await until(() => outbox.sending.size === 1);
  });

  it('take over from one whose clock was a day ahead without waiting for a day', async () => {
    const store = createMemoryStore();
    const { server, outbox, append } = await subscribed({
      store,
      answer: (index) => (index === 0 ? 503 : 200),
      times: { ...FAST, retry: { firstPause: 60_000, longestPause: 60_000, total: 600_000 } },
    });
    const line = storedLine();
    await append(line);
    await until(async () => (await outbox.statuses())[0]?.waiting.length === 1);
    await outbox.stop();
    const key = 'outbox/crm/state.json';
    const state = JSON.parse(store.objects.get(key)?.body.toString() ?? '');
    const DAY = 86_400_000;
    for (const event of state.waiting) {
      event.firstTriedAt += DAY;
      event.nextTryAt += DAY;
    }
    expect(state.openSince).toBeNull();
    store.put(key, JSON.stringify(state));
    const second = outboxOf(store, { crm: subscriberAt(server.url) });
    second.start();
    running.push(second);
    await until(() => server.requests.length === 2);
    expect(idsOf(server)).toEqual([line.deliveryId, line.deliveryId]);
  });

  it('send what waits in the batches of one that died, also where one is gone, and delete what it left', async () => {
    const { store, line } = await withBatches();
    const server = await recordingServer();
    const outbox = outboxOf(store, { crm: subscriberAt(server.url) });
    outbox.start();
    running.push({ stop: () => server.close() }, outbox);
    await until(() => idsOf(server).includes(line.deliveryId));
    await until(async () => (await outbox.statuses())[0]?.setAside.length === 1);
    await until(() => [...store.objects.keys()].every((key) => !key.includes('/waiting/')));
    expect(idsOf(server)).toEqual([line.deliveryId]);
    expect(String(outbox.errors[0])).toContain('the batch waiting/1-1.json is gone');
    const state = JSON.parse(store.objects.get('outbox/crm/state.json')?.body.toString() ?? '');
    expect(state.batches).toMatchObject([{ name: '1-1' }]);
  });

  it('keep the batches that another one has, which took over meanwhile', async () => {
    const { store } = await withBatches();
    const isTaken = () => store.objects.has(outboxClaimKey('crm', 3));
    const suspended: ObjectStore = {
      ...store,
      async replace(key, body, headers) {
        if (key.endsWith('/state.json') && !body.includes('"1-2"')) store.put(outboxClaimKey('crm', 3), '{}');
        await store.replace(key, body, headers);
      },
    };
    const outbox = outboxOf(suspended, { crm: subscriberAt('http://127.0.0.1:9/') }, { lease: 600_000 });
    outbox.start();
    running.push(outbox);
    await until(() => isTaken() && outbox.sending.size === 0);
    expect([...store.objects.keys()].filter((key) => key.includes('/waiting/'))).toEqual([
      'outbox/crm/waiting/1-2.json',
    ]);
  });

  it('take over from one that was suspended, which then sends nothing more', async () => {
    const shared = createMemoryStore();
    const server = await recordingServer();
    running.push({ stop: () => server.close() });
    const outbox = outboxOf(shared, { crm: subscriberAt(server.url) });
    outbox.start();
    running.push(outbox);
    await until(async () => (await outbox.statuses())[0]?.sender === 'replica-a');
    // Another replica claims although the first one is alive: it was suspended for longer than a lease.
    shared.put('outbox/crm/claim-000000002.json', '{}');
    await until(() => outbox.sending.size === 0);
  });
});
