import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { encodeTime } from 'ulid';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { encodeIdCursor } from '../../../src/lib/text/id-cursor.js';
import type { DeadEvent } from '../../../src/subscribers/dead-event.js';
import { deadEventOf, SECRET } from '../../support/outbox/subscribed.js';
import { type AdminApi, adminApi, sendCallback, sendForm } from '../../support/processes/admin-api.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { type S3StandIn, startS3StandIn } from '../../support/store/s3-stand-in.js';
import { standInS3 } from '../../support/store/stand-in-store.js';
import { until } from '../../support/until.js';

const JSON_TYPE = { 'content-type': 'application/json' };

let service: RunningService;
let api: AdminApi;

describe('failures', () => {
  const transcript = (content: string) =>
    JSON.stringify({ format: '2.9', metadata: {}, results: [], content });

  /** It answers nothing. */
  const SPEECH = { apiKey: 'a'.repeat(32), regions: { eu1: { batchUrl: 'http://127.0.0.1:9/' } } };

  beforeEach(async () => {
    service = await startService({ sources: { default: { maxBytes: '1KiB' } }, speech: SPEECH });
    api = adminApi(service);
  });
  afterEach(() => service.stop());

  const send = (job: string, body?: string) =>
    sendCallback(service, `id=${job}&status=success`, body, JSON_TYPE);
  const failing = async () => {
    const { body } = await api.get('/failures');
    return { jobs: body.failures.map(({ jobId }: { jobId: string }) => jobId), counts: body.counts };
  };

  /** The jobs of every page of two; each page counts all. */
  async function pagesOf(query: string, counts: object): Promise<string[][]> {
    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await api.get(`/failures?${query}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      expect(body.counts).toEqual(counts);
      pages.push(body.failures.map(({ jobId }: { jobId: string }) => jobId));
      cursor = body.nextCursor;
    }
    return pages;
  }

  describe('failing jobs', () => {
    it('are those not settled since, ordered by the time at which the service deletes them', async () => {
      expect(await failing()).toEqual({ jobs: [], counts: {} });
      await send('fine', transcript('a'));
      await send('large', transcript('a'.repeat(2000)));
      await send('cured', transcript('a'.repeat(2000)));
      await send('cured', transcript('a'));
      await send('again', transcript('a'));
      await send('again', transcript('a'.repeat(2000)));
      expect(await failing()).toEqual({ jobs: ['large', 'again'], counts: { refused: 2 } });
      expect((await api.get('/failures?limit=1')).body).toMatchObject({
        failures: [{ jobId: 'large', retentionEndsAt: expect.stringMatching(/Z$/) }],
        nextCursor: expect.any(String),
        counts: { refused: 2 },
      });
      expect((await api.get('/failures?limit=0')).status).toBe(400);
    });

    it('come in pages and by filters', async () => {
      for (const id of ['a', 'b', 'c']) await send(id, transcript('a'.repeat(2000)));
      await send('d', transcript('a'));
      await send('d', transcript('b'));
      expect(await pagesOf('outcome=refused', { refused: 3 })).toEqual([['a', 'b'], ['c']]);
      expect((await api.get('/failures?source=default')).body.counts).toEqual({ refused: 3, conflict: 1 });
      expect(
        (await api.get(`/failures?since=${new Date(Date.now() + 60_000).toISOString()}`)).body.counts,
      ).toEqual({});
      expect((await api.get('/failures?cursor=nonsense')).status).toBe(400);
    });

    it('are settled by an acknowledgement with a reason, which stays findable, until they fail again', async () => {
      await send('two', transcript('a'));
      await send('two', transcript('b'));
      await send('big', transcript('a'.repeat(2000)));
      const acknowledge = (id: string, json: object) => api.post(`/jobs/${id}/acknowledge`).send(json);
      expect((await acknowledge('two', {})).status).toBe(400);
      expect((await acknowledge('nobody', { reason: 'x' })).status).toBe(404);
      for (const id of ['two', 'big']) {
        const { status, body } = await acknowledge(id, { reason: 'compared, the first is right' });
        expect([status, body.outcome, body.actor]).toEqual([200, 'acknowledged', 'tester']);
      }
      expect(await failing()).toEqual({ jobs: [], counts: {} });
      const { body } = await api.get('/deliveries?outcome=acknowledged');
      expect(body.deliveries).toMatchObject([
        { jobId: 'big', reason: 'compared, the first is right' },
        { jobId: 'two' },
      ]);
      await send('two', transcript('c'));
      expect(await failing()).toEqual({ jobs: ['two'], counts: { conflict: 1 } });
    });

    it('reject a filter by an outcome that is not a failure', async () => {
      await send('one', transcript('a'));
      const { status, body } = await api.get('/failures?outcome=stored');
      expect([status, body.detail]).toEqual([400, expect.stringContaining('failures are failed')]);
    });

    it('stay in conflict until they are erased or acknowledged', async () => {
      await send('two', transcript('a'));
      await send('two', transcript('b'));
      await send('two', transcript('a'));
      await send('two', transcript('a'.repeat(2000)));
      expect(await failing()).toEqual({ jobs: ['two'], counts: { conflict: 1 } });
      await api.delete('/jobs/two');
      expect(await failing()).toEqual({ jobs: [], counts: {} });
    });
  });

  describe('failing jobs by cause', () => {
    const large = transcript('a'.repeat(2000));
    const cli = (...args: string[]) =>
      runCommand(args, {
        NODE_CONFIG: JSON.stringify({
          store: { url: `file:${service.folder}`, partSize: '64KiB' },
          sources: { default: { maxBytes: '1KiB' } },
          speech: SPEECH,
        }),
      });

    beforeEach(async () => {
      for (const id of ['a', 'b', 'c']) await send(id, large);
      await send('d', transcript('a'));
      await send('d', transcript('b'));
    });

    it('are counted with what to do, and their rows lie behind them in pages', async () => {
      const { body } = await api.get('/failures');
      expect(body.causes).toEqual([
        expect.objectContaining({
          code: 'body-too-large',
          source: 'default',
          outcome: 'refused',
          count: 3,
          remedy: expect.stringMatching(/^Refetch the job, .* raise maxBytes/),
        }),
        expect.objectContaining({ code: 'conflict', count: 1 }),
      ]);
      expect(await pagesOf('cause=body-too-large', { refused: 3 })).toEqual([['a', 'b'], ['c']]);
    });

    it('are selected by a replay', async () => {
      const selector = { kind: 'refetch', cause: 'body-too-large', source: 'default' };
      const preview = await api.post('/replays').send({ selector, dryRun: true });
      expect(preview.body).toMatchObject({ count: 3, jobs: ['a', 'b', 'c'] });
      const none = await api.post('/replays').send({ selector: { ...selector, cause: 'x' }, dryRun: true });
      expect(none.body).toMatchObject({ count: 0 });
      for (const more of [{ jobs: ['a'] }, { kind: 'release' }])
        expect(
          (await api.post('/replays').send({ selector: { ...selector, ...more }, dryRun: true })).status,
        ).toBe(400);
    });

    it('are acknowledged together, after a preview', async () => {
      const order = { cause: 'body-too-large', source: 'default' };
      const preview = await api.post('/failures/acknowledge').send({ ...order, dryRun: true });
      expect(preview.body).toEqual({ count: 3, acknowledged: 0, jobs: ['a', 'b', 'c'] });
      expect((await api.post('/failures/acknowledge').send(order)).status).toBe(400);
      expect((await failing()).counts).toEqual({ refused: 3, conflict: 1 });
      const { body } = await api.post('/failures/acknowledge').send({ ...order, reason: 'test calls' });
      expect(body).toMatchObject({ count: 3, acknowledged: 3 });
      expect((await failing()).counts).toEqual({ conflict: 1 });
    });

    it('come first on the command line, with the commands for all of them', async () => {
      const listed = await cli('failures');
      expect(listed.stdout).toMatch(
        /^3 jobs of default, refused: the body was larger than maxBytes of the source\. First /m,
      );
      const commands = [...listed.stdout.matchAll(/^ {4}transcript-receiver (.*)$/gm)].map(
        ([, line = '']) => line,
      );
      expect(commands).toEqual([
        'replay refetch --cause body-too-large --source default',
        'acknowledge --cause body-too-large --source default --reason <words>',
        'job <job>',
        'acknowledge --cause conflict --source default --reason <words>',
      ]);
      const preview = await cli('replay', 'refetch', '--cause', 'body-too-large', '--dry-run', '--json');
      expect(JSON.parse(preview.stdout)).toMatchObject({ count: 3 });
      const dry = await cli('acknowledge', '--cause', 'body-too-large', '--dry-run');
      expect(dry.stdout).toMatch(/^3 jobs would be acknowledged\n {2}a\n/);
      const done = await cli('acknowledge', '--cause', 'body-too-large', '--reason', 'test calls');
      expect(done).toMatchObject({ code: 0, stdout: '3 jobs acknowledged: test calls\n' });
      expect((await cli('acknowledge', '--reason', 'x')).code).toBe(2);
      expect((await cli('acknowledge', 'a', '--cause', 'x', '--reason', 'x')).code).toBe(2);
      expect((await failing()).counts).toEqual({ conflict: 1 });
    });
  });
});

describe('deliveries and acts', () => {
  const TRANSCRIPT = JSON.stringify({ format: '2.9', metadata: {}, results: [] });
  const JOBS = ['j1', 'j2', 'j3', 'j4', 'j5'];
  const NEWEST_FIRST = JOBS.toReversed();

  /** After each callback operators read, acknowledge and import more than a page of the list holds. */
  beforeAll(async () => {
    service = await startService({ sources: { default: {} } });
    api = adminApi(service);
    for (const job of JOBS) {
      await sendCallback(service, `id=${job}&status=success`, TRANSCRIPT, JSON_TYPE);
      await api.get(`/jobs/${job}/artefacts/transcript.json`).expect(200);
      for (const reason of ['looked at', 'looked at again', 'done'])
        await api.post(`/jobs/${job}/acknowledge`).send({ reason }).expect(200);
    }
    const form = new FormData();
    form.set('reason', 'from the backup');
    form.set('transcript', new Blob([TRANSCRIPT]), 'transcript.json');
    expect((await sendForm(api.post('/jobs/imported/artefacts'), form)).status).toBe(200);
  });
  afterAll(() => service.stop());

  async function listed(query: string): Promise<LedgerLine[]> {
    const { body } = await api.get(`/deliveries?${query}`).expect(200);
    return body.deliveries;
  }

  /** The jobs of every page. */
  async function pagesOf(query: string): Promise<(string | null)[][]> {
    const pages: (string | null)[][] = [];
    let cursor: string | null = null;
    do {
      const at: string = cursor === null ? '' : `&cursor=${cursor}`;
      const { body } = await api.get(`/deliveries?${query}${at}`).expect(200);
      pages.push((body.deliveries as LedgerLine[]).map(({ jobId }) => jobId));
      cursor = body.nextCursor;
    } while (cursor !== null);
    return pages;
  }

  describe("deliveries without operators' acts", () => {
    it.each(['', '&since=2020-01-01'])('come in pages that are full until the last%s', async (range) => {
      const [a, b, c, d, e] = NEWEST_FIRST;
      expect(await pagesOf(`without=acts&limit=2${range}`)).toEqual([[a, b], [c, d], [e]]);
      expect(await pagesOf(`without=acts&limit=5${range}`)).toEqual([NEWEST_FIRST]);
    });

    it('are chosen by the client: without the parameter acts are listed', async () => {
      const outcomes = (await listed('limit=500')).map(({ outcome }) => outcome);
      expect(outcomes.filter((outcome) => outcome === 'acknowledged')).toHaveLength(15);
      expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(6);
    });

    it('leave out the accesses to a job', async () => {
      expect((await listed('job=j1')).map(({ origin }) => origin)).toContain('admin');
      expect(await listed('job=j1&without=acts')).toMatchObject([{ origin: 'callback', outcome: 'stored' }]);
    });

    it.each([
      ['outcome=acknowledged', 15],
      ['outcome=read', 5],
      ['origin=import', 1],
      ['origin=replay', 15],
    ])('give way to a filter that asks for acts: %s', async (filter, count) => {
      expect(await listed(`without=acts&limit=500&${filter}`)).toHaveLength(count);
    });
  });

  describe('the acts of one operator', () => {
    it('are listed with accesses, also where acts are left out, and nobody else’s', async () => {
      for (const without of ['', '&without=acts']) {
        const own = await listed(`actor=tester&limit=500${without}`);
        expect(new Set(own.map(({ actor }) => actor))).toEqual(new Set(['tester']));
        const outcomes = new Set(own.map(({ outcome }) => outcome));
        expect(outcomes).toEqual(new Set(['read', 'acknowledged', 'stored', 'signed-in']));
      }
      expect(await listed('actor=tester&outcome=acknowledged&limit=500')).toHaveLength(15);
      expect(await listed('actor=nobody')).toEqual([]);
    });
  });

  describe("operators' acts alone", () => {
    it('are listed in pages, with accesses', async () => {
      const all = (await listed('limit=500')).concat(await listed('origin=admin&limit=500'));
      const acts = await listed('only=acts&limit=500');
      const ids = (lines: readonly LedgerLine[]) => lines.map(({ deliveryId }) => deliveryId).sort();
      const expected = all.filter(({ origin }) => ['replay', 'import', 'admin'].includes(origin));
      expect(ids(acts)).toEqual(ids(expected));
      expect(acts.filter(({ origin }) => origin === 'admin').length).toBeGreaterThan(0);
      expect((await pagesOf('only=acts&limit=3')).flat()).toEqual(acts.map(({ jobId }) => jobId));
    });
  });
});

describe('a page of many dead events', () => {
  const EVENTS = 150;
  const NOW = Date.now();
  const PART = 5 * 1024 * 1024;

  let standIn: S3StandIn;
  const idOf = (n: number) => `${encodeTime(NOW - (EVENTS - n) * 60_000, 10)}0000000000000000`;

  /** That of a page behind a cursor: counts list the folder as well. */
  function isListing({ operation, query }: S3StandIn['requests'][number]): boolean {
    return (
      operation === 'ListObjects' &&
      query.get('prefix') === 'prefix/outbox/crm/dead/' &&
      query.has('start-after')
    );
  }
  const listings = () => standIn.requests.filter(isListing).length;
  const reads = () =>
    standIn.requests.filter(
      ({ operation, key }) => operation === 'GetObject' && /outbox\/crm\/dead\//.test(key),
    ).length;

  beforeAll(async () => {
    standIn = await startS3StandIn();
    service = await startService({
      store: {
        url: 's3://bucket/prefix',
        partSize: PART,
        s3: { ...standInS3(standIn), retries: 0, requestTimeout: '60s' },
      },
      limits: { memoryBudget: 4 * PART, quarantineBytes: '128KiB' },
      sources: { default: { allowUnauthenticated: true } },
      subscribers: { crm: { url: 'http://127.0.0.1:1', secrets: [SECRET], events: ['health.opened'] } },
    });
    api = adminApi(service);
    for (let n = 0; n < EVENTS; n += 1) {
      const { event, ...dead } = deadEventOf(`job-${n}`);
      const kept = { ...dead, event: { ...event, id: idOf(n) } };
      standIn.state.put(`prefix/outbox/crm/dead/${idOf(n)}.json`, Buffer.from(JSON.stringify(kept)), {});
    }
  });
  beforeEach(() => {
    standIn.misbehave = () => null;
    standIn.requests.length = 0;
  });
  afterAll(async () => {
    standIn.misbehave = () => null;
    await service.stop();
    await standIn.close();
  });

  /** Resolves when the service has noticed that its clients are gone, and given up what it read for them. */
  async function leaveAll(clients: readonly ReturnType<typeof ask>[]): Promise<void> {
    for (const { leave } of clients) leave();
    await Promise.allSettled(clients.map(({ answer }) => answer));
    await until(() => standIn.hanging === 0);
    standIn.misbehave = () => null;
  }

  function ask(path: string) {
    const leaving = new AbortController();
    const answer = fetch(`${service.adminUrl}/admin/api${path}`, {
      headers: { authorization: `Bearer ${service.adminToken}` },
      signal: leaving.signal,
    });
    return { answer, leave: () => leaving.abort() };
  }

  /** Four groups of sixteen, and an event for its cause. */
  const MOST_READS = 65;
  const DEAD = '/subscribers/crm/dead';
  const behind = (n: number, limit: number) =>
    `${DEAD}?limit=${limit}&cursor=${encodeIdCursor('dead', idOf(n))}`;
  const later = (limit: number) => behind(EVENTS / 2, limit);
  const numbersOf = ({ deadEvents }: { readonly deadEvents: readonly DeadEvent[] }) =>
    deadEvents.map(({ event }) => Number(event.data.jobId.replace('job-', '')));

  it('is the oldest, page by page, without a listing of all', async () => {
    const first = (await api.get(`${DEAD}?limit=50`).expect(200)).body;
    expect(numbersOf(first)).toEqual(Array.from({ length: 50 }, (_, n) => n));
    standIn.requests.length = 0;
    const second = (await api.get(`${DEAD}?limit=50&cursor=${first.nextCursor}`).expect(200)).body;
    expect(numbersOf(second)[0]).toBe(50);
    expect(listings()).toBe(1);
    expect(reads()).toBeLessThanOrEqual(MOST_READS);
    const last = (await api.get(behind(EVENTS - 3, 50)).expect(200)).body;
    expect(numbersOf(last)).toEqual([EVENTS - 2, EVENTS - 1]);
    expect(last.nextCursor).toBeNull();
  });

  it('is one of eight reads at once; a ninth is told when to come again', async () => {
    standIn.misbehave = (request) => (isListing(request) ? { kind: 'hang' } : null);
    const reading = Array.from({ length: 8 }, (_, n) => ask(later(n + 1)));
    await until(() => listings() === 8);
    const refused = await ask(later(9)).answer;
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toMatchObject({
      code: 'overloaded',
      detail: expect.stringMatching(/^8 reads/),
    });
    expect(listings()).toBe(8);
    // The page's light waits behind none of them.
    await api.get('/health').expect(200);
    await api.get('/names').expect(200);
    await leaveAll(reading);
    await api.get(later(9)).expect(200);
  });
});
