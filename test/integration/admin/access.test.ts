import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import supertest from 'supertest';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { API_ROUTES } from '../../support/admin-api-routes.js';
import { accessLinesOf, ledgerOf } from '../../support/ledger/ledger-of.js';
import { type AdminApi, adminApi, sendCallback, sendForm } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../../support/recovery/lost-jobs.js';
import { until } from '../../support/until.js';

const JSON_TYPE = { 'content-type': 'application/json' };

let service: RunningService;
const transcriptOf = (id: string) =>
  JSON.stringify({ format: '2.9', job: { id }, metadata: {}, results: [] });
let api: AdminApi;

describe('a token', () => {
  const RIGHTS = ['view', 'read', 'repair', 'erase'];
  const tokenOf = (name: string) => `token-of-the-${name}-0123456789`;
  const as = (name: string): AdminApi => adminApi(service, tokenOf(name));

  beforeAll(async () => {
    const single = RIGHTS.map((right) => [right, { token: tokenOf(right), may: [right] }]);
    service = await startService({
      sources: { default: {} },
      admin: { tokens: { ...Object.fromEntries(single), everything: tokenOf('everything') } },
    });
  });

  afterAll(() => service.stop());

  const operations = API_ROUTES.map(({ method, path, right }) => [method, path, right] as const);

  /** Harmless: what it names is not here, or what it sends is not valid. */
  function send(api: AdminApi, method: string, path: string) {
    const target = path.replace(':id', 'unknown').replace('*path', 'data');
    return api[method.toLowerCase() as 'get' | 'post' | 'delete'](target);
  }

  it.each(operations)('needs for %s %s the right %s, and no other', async (method, path, right) => {
    const holders = [...RIGHTS, 'everything'];
    const answers = await Promise.all(holders.map((held) => send(as(held), method, path)));
    for (const [n, { status, body }] of answers.entries()) {
      const held = holders[n] ?? '';
      if (right === null || right === held || held === 'everything')
        expect([held, status]).not.toEqual([held, 403]);
      else {
        expect(body).toMatchObject({ status: 403, code: 'right-missing' });
        expect(body.detail).toContain(`the right ${right}, which ${held} does not have`);
      }
    }
  });

  it('is answered 403 before its body is read', async () => {
    const answer = await as('view').post('/replays').set(JSON_TYPE).send('{nonsense');
    expect(answer.body).toMatchObject({ status: 403, code: 'right-missing' });
  });

  it('may ask what it may do', async () => {
    expect((await as('read').get('/session')).body).toEqual({
      actor: 'read',
      may: ['read'],
      sources: null,
      canAskService: false,
    });
    expect((await as('everything').get('/session')).body).toMatchObject({ may: RIGHTS, sources: null });
  });
});

describe('a token for one source', () => {
  const SECRET = 'correct-horse-battery-staple';
  const WRONG = { 'x-callback-token': 'wrong-wrong-wrong-wrong' };
  const may = ['view', 'read', 'repair', 'erase'];
  const tokens = {
    clinic: { token: 'token-of-the-clinic-0123456789', may, sources: ['clinic'] },
    court: { token: 'token-of-the-court-0123456789', may, sources: ['court'] },
  };

  let lost: LostJobs;
  let everything: AdminApi;
  let clinic: AdminApi;
  let court: AdminApi;
  const bodies: Record<string, string> = {};
  const replays: Record<string, string> = {};

  async function deliver(source: string): Promise<void> {
    const send = (query: string, body?: string, headers: Record<string, string> = JSON_TYPE) =>
      sendCallback(service, query, body, { 'x-callback-token': SECRET, ...headers }, source);
    await send(`id=${source}-1&status=success`, transcriptOf(`${source}-1`));
    await send(`id=${source}-1&status=success`, `${transcriptOf(`${source}-1`)} `);
    await send(`id=${source}-2&status=${source}_error`, undefined, {});
    await send(`id=${source}-3&status=success`, transcriptOf(`${source}-3`), { ...JSON_TYPE, ...WRONG });
    const broken = await send(`id=${source}-4&status=success`, '{"broken\u0000"');
    bodies[source] = String(broken.json.deliveryId);
    await send(`id=${source}-5&status=success`, transcriptOf(`${source}-5`));
    await send(`id=${source}-5&status=success`, `${transcriptOf(`${source}-5`)} `);
    // The same job id in both sources.
    await send('id=shared&status=success', transcriptOf('shared'));
  }

  beforeAll(async () => {
    lost = await lostJobs();
    const credentials = { main: { headers: [`X-Callback-Token: ${SECRET}`] } };
    service = await startService({
      sources: { clinic: { keyPrefix: 'clinic/', credentials }, court: { keyPrefix: 'court/', credentials } },
      admin: { tokens },
      subscribers: {
        'court-system': {
          url: 'http://127.0.0.1:9/',
          secrets: ['whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='],
          events: ['job.stored'],
          sources: ['court'],
        },
      },
      ...lost.settings,
    });
    everything = adminApi(service);
    clinic = adminApi(service, tokens.clinic.token);
    court = adminApi(service, tokens.court.token);
    for (const source of ['clinic', 'court']) {
      await deliver(source);
      await everything.post(`/jobs/${source}-1/acknowledge`).send({ reason: `reviewed by the ${source}` });
      const api = source === 'clinic' ? clinic : court;
      const { body } = await api
        .post('/replays')
        .send({ selector: { kind: 'release' }, reason: `of the ${source}` });
      replays[source] = body.replayId;
      await until(async () => (await api.get(`/replays/${body.replayId}`)).body.state === 'done');
    }
  });

  afterAll(async () => {
    await service.stop();
    await lost.simulator.close();
  });

  const reads = API_ROUTES.filter(({ method, path }) => method === 'GET' && path !== '/openapi.json');

  const QUERIES: Readonly<Record<string, string>> = { '/quarantine': '?state=all', '/jobs': '?text=court-1' };

  /** Paths of a GET route, with every id that could be the other source's. */
  function pathsOf(path: string): string[] {
    if (!path.includes(':id')) return [path];
    const ids = path.startsWith('/jobs')
      ? ['court-1', 'court-2', 'court-3', 'court-4', 'shared', 'clinic-1']
      : Object.values(path.startsWith('/replays') ? replays : bodies);
    const files = ['transcript.json', 'court/jobs/court-1/transcript.json'];
    return ids.flatMap((id) => files.map((file) => path.replace(':id', id).replace('*path', file)));
  }

  it.each(reads.map(({ path }) => path))('sees nothing of another source in GET %s', async (path) => {
    const query = QUERIES[path] ?? '';
    for (const target of pathsOf(path)) {
      const { status, text } = await clinic.get(target + query);
      const own = text.replaceAll('court-', '');
      expect({ target, status, leaks: /court/.test(target.includes('court') ? own : text) }).toMatchObject({
        leaks: false,
      });
      if (target.includes('/court-')) expect(status).toBe(404);
    }
    for (const id of [replays.court, bodies.court]) {
      for (const target of pathsOf(path)) {
        if (!target.includes(`/${id}`)) continue;
        expect((await clinic.get(target)).status).toBe(404);
      }
    }
  });

  it('sees of its own source what a token for all sees of it', async () => {
    for (const path of ['/deliveries', '/failures', '/quarantine?state=all', '/refusals']) {
      const [name = ''] = path.slice(1).split('?');
      const separator = path.includes('?') ? '&' : '?';
      const all = (await everything.get(`${path}${name === 'refusals' ? '' : `${separator}source=clinic`}`))
        .body;
      const own = (await clinic.get(path)).body;
      const listed = (body: Record<string, { source: string | null }[]>) =>
        (body[name] ?? []).filter(({ source }) => source === 'clinic');
      expect(listed(own)).toEqual(listed(all));
      expect(listed(own).length).toBeGreaterThan(0);
    }
    const { counts } = (await clinic.get('/failures')).body;
    const total = (await everything.get('/failures')).body.counts;
    for (const outcome of Object.keys(total)) expect(total[outcome]).toBe(2 * counts[outcome]);
  });

  it('sees an act on a job of its source, whose line names no source', async () => {
    const { deliveries } = (await clinic.get('/deliveries?outcome=acknowledged')).body;
    expect(deliveries.map(({ jobId, source }: { jobId: string; source: null }) => [jobId, source])).toEqual([
      ['clinic-1', null],
    ]);
    const acts = (await clinic.get('/deliveries?only=acts&limit=500')).body.deliveries;
    expect(acts.length).toBeGreaterThan(0);
    expect(JSON.stringify(acts)).not.toMatch(/court/);
    const { timeline } = (await clinic.get('/jobs/clinic-1')).body;
    expect(timeline.map(({ reason }: { reason: string }) => reason)).toContain('reviewed by the clinic');
  });

  it('has half of all figures, and none that cover every source', async () => {
    const own = (await clinic.get('/health')).body;
    const all = (await everything.get('/health')).body;
    expect(own.scope).toEqual({ sources: ['clinic'] });
    expect(all.scope).toBeNull();
    expect(own).toMatchObject({
      quarantine: null,
      reconcile: null,
      verify: null,
      regions: [],
      noRegion: null,
      budget: null,
      activeDeliveries: null,
      ledger: { rows: null },
    });
    expect(own.verdict).toMatchObject({ unseen: ['quarantine', 'reconcile', 'verify'] });
    const { total } = (await clinic.get('/summary')).body;
    const { outcomes } = (await everything.get('/summary')).body.total;
    for (const outcome of ['stored', 'conflict', 'quarantined', 'refused'])
      expect(2 * (total.outcomes[outcome] ?? 0)).toBe(outcomes[outcome] ?? 0);
  });

  it('sees of a job of both sources only its own part, and cannot erase or settle it', async () => {
    const { body } = await clinic.get('/jobs/shared');
    expect(body.artefacts.map(({ key }: { key: string }) => key)).toEqual([
      'clinic/jobs/shared/transcript.json',
    ]);
    const refused = { status: 403, code: 'scope-exceeded' };
    expect((await clinic.delete('/jobs/shared')).body).toMatchObject(refused);
    expect((await clinic.post('/jobs/shared/acknowledge').send({ reason: 'x' })).body).toMatchObject(refused);
    expect((await everything.get('/jobs/shared')).body.artefacts).toHaveLength(2);
  });

  it.each([
    ['erase', () => clinic.delete('/jobs/court-1')],
    ['acknowledge', () => clinic.post('/jobs/court-1/acknowledge').send({ reason: 'x' })],
    ['get a ticket for', () => clinic.post('/jobs/court-1/ticket')],
    ['release a body of', () => clinic.post(`/quarantine/${bodies.court}/release`)],
    ['dismiss a body of', () => clinic.post(`/quarantine/${bodies.court}/dismiss`).send({ reason: 'x' })],
    ['cancel a replay of', () => clinic.delete(`/replays/${replays.court}`)],
    ['refetch', () => clinic.post('/jobs/court-1/refetch')],
  ])('cannot %s another source', async (_, act) => {
    const before = await ledgerOf(service.folder);
    expect((await act()).body).toMatchObject({ status: 404, code: 'not-found' });
    expect((await ledgerOf(service.folder)).length).toBe(before.length);
  });

  it('is answered for another source as for an unknown one', async () => {
    for (const path of ['/deliveries?source=', '/quarantine?source=', '/failures?source=']) {
      const court = await clinic.get(`${path}court`);
      const unknown = await clinic.get(`${path}nobody`);
      expect(court.status).toBe(400);
      expect(court.body.detail.replace('court', 'nobody')).toBe(unknown.body.detail);
    }
    const { status: hidden } = await clinic.get('/subscribers/court-system/dead');
    expect([hidden, (await court.get('/subscribers/court-system/dead')).status]).toEqual([404, 200]);
    for (const subscriber of ['court-system', 'nobodys']) {
      const selector = { kind: 'notify', subscriber, dead: true };
      const { body } = await clinic.post('/replays').send({ selector, dryRun: true });
      expect(body.detail.replace(subscriber, '')).toBe('subscriber: "" is not known; none is configured.');
    }
    const selector = { kind: 'refetch', source: 'court' };
    expect((await clinic.post('/replays').send({ selector })).body.status).toBe(400);
    const asked = await clinic.post('/explain').send({ source: 'court', address: '127.0.0.1' });
    expect(asked.body).toMatchObject({ decision: 'refuse', reason: 'There is no source "court".' });
    const form = new FormData();
    form.set('source', 'court');
    form.set('transcript', new Blob([transcriptOf('j')], { type: 'application/json' }), 'a.json');
    expect((await sendForm(clinic.post('/jobs/j/artefacts'), form)).body.status).toBe(400);
  });

  it('is answered for a job of another source as for an unknown one', async () => {
    const court = await clinic.get('/jobs/court-1');
    const unknown = await clinic.get('/jobs/nobody');
    expect(court.body).toEqual(unknown.body);
  });

  it('selects for a replay only what belongs to its source', async () => {
    const order = (selector: object) => clinic.post('/replays').send({ selector, dryRun: true });
    const jobs = ['clinic-1', 'court-1', 'never-seen'];
    expect((await order({ kind: 'refetch', jobs })).body.jobs).toEqual(['clinic-1']);
    expect((await order({ kind: 'refetch', since: '2020-01-01' })).body.jobs.join()).not.toContain('court');
    expect((await order({ kind: 'release', jobs: ['court-4'] })).body.count).toBe(0);
  });

  it('gets a lost job from the service only when its own entries lead to its source', async () => {
    const notification = (source: string) => [{ url: `https://receiver.example/callbacks/${source}` }];
    const submit = async (source: string | null) => {
      const { id, notified } = lost.simulator.submit({
        words: 5,
        config: {
          type: 'transcription',
          ...(source === null ? {} : { notification_config: notification(source) }),
        },
      });
      await notified;
      return id;
    };
    const own = await submit('clinic');
    const foreign = await submit('court');
    const nobodys = await submit(null);
    expect((await clinic.post(`/jobs/${own}/refetch`)).body).toMatchObject({ outcome: 'recovered' });
    for (const id of [foreign, nobodys]) {
      for (const order of [{}, { source: 'clinic' }]) {
        expect((await clinic.post(`/jobs/${id}/refetch`).send(order)).body).toMatchObject({ status: 404 });
      }
      expect((await everything.get(`/jobs/${id}`)).body.artefacts).toEqual([]);
      expect((await clinic.get(`/jobs/${id}`)).status).toBe(404);
    }
  });
});

describe('the record of access', () => {
  const BROKEN = '{"broken\u0000"';
  const CREDENTIAL = 'a-secret-of-sixteen';
  const desk = { token: 'token-of-the-desk-0123456789', may: ['view', 'read'] };
  let anonymous: AdminApi;
  let body: string;

  beforeAll(async () => {
    service = await startService({
      sources: { intake: {}, guarded: { credentials: { main: { headers: [`X-T: ${CREDENTIAL}`] } } } },
      admin: { tokens: { desk } },
    });
    api = adminApi(service, desk.token);
    anonymous = adminApi(service, null);
    for (const id of ['j1', 'j2', 'j3', 'j4'])
      await sendCallback(service, `id=${id}&status=success`, transcriptOf(id), JSON_TYPE, 'intake');
    const broken = await sendCallback(service, 'id=q1&status=success', BROKEN, JSON_TYPE, 'intake');
    body = String(broken.json.deliveryId);
  });

  afterAll(() => service.stop());

  async function readsOf(jobId: string): Promise<LedgerLine[]> {
    const lines = await accessLinesOf(service.folder);
    return lines.filter((line) => line.outcome === 'read' && line.jobId === jobId);
  }

  const SHA256 = /^[0-9a-f]{64}$/;

  describe('a look at content', () => {
    it('is a line with the token, the job, the item and the address', async () => {
      expect((await api.get('/jobs/j1/artefacts/transcript.json')).text).toBe(transcriptOf('j1'));
      expect(await readsOf('j1')).toEqual([
        expect.objectContaining({
          origin: 'admin',
          outcome: 'read',
          actor: 'desk',
          clientIp: '127.0.0.1',
          source: 'intake',
          method: 'GET',
          status: null,
          bytes: 0,
          items: [
            {
              kind: 'transcript.json-v2',
              key: 'jobs/j1/transcript.json',
              outcome: 'read',
              size: transcriptOf('j1').length,
              sha256: expect.stringMatching(SHA256),
            },
          ],
        }),
      ]);
    });

    it('is one line for many ranges, and none where no content is sent', async () => {
      const path = '/jobs/j2/artefacts/transcript.json';
      const { headers } = await api.head(path);
      await api.get(path).set('if-none-match', String(headers.etag)).expect(304);
      await api.get(path).set('range', 'bytes=9999-').expect(416);
      await api.get('/jobs/j2');
      expect(await readsOf('j2')).toEqual([]);
      const ranges = Array.from({ length: 20 }, (_, n) =>
        api.get(path).set('range', `bytes=${n}-${n}`).expect(206),
      );
      await Promise.all(ranges);
      // Twenty requests may lie on both sides of a full minute.
      expect((await readsOf('j2')).length).toBeLessThanOrEqual(2);
      expect(await readsOf('j2')).not.toEqual([]);
    });

    it('is recorded for a quarantined body, its beginning included', async () => {
      await api.get(`/quarantine/${body}`).expect(200);
      const key = `quarantine/${body}/body`;
      expect(await readsOf('q1')).toMatchObject([{ source: 'intake', items: [{ kind: 'attachment', key }] }]);
      expect((await adminApi(service).get(`/quarantine/${body}/body`)).text).toBe(BROKEN);
      expect((await readsOf('q1')).map(({ actor }) => actor).sort()).toEqual(['desk', 'tester']);
    });

    it('is recorded for a ticket when it is issued and when it is used', async () => {
      const { ticket } = (await api.post('/jobs/j3/ticket')).body;
      expect(await readsOf('j3')).toMatchObject([{ actor: 'desk', reason: 'ticket', items: [] }]);
      await anonymous.get(`/jobs/j3/artefacts/transcript.json?ticket=${ticket}`).expect(200);
      expect(await readsOf('j3')).toHaveLength(2);
    });

    it('does not happen while the ledger cannot be written', async () => {
      const ledger = join(service.folder, 'ledger');
      const away = join(service.folder, '.ledger-away');
      await rename(ledger, away);
      await writeFile(ledger, '');
      try {
        for (const path of ['/jobs/j4/artefacts/transcript.json', `/quarantine/${body}/body?`]) {
          const { status, text } = await adminApi(service).get(path);
          if (path.includes('j4')) expect(status).toBe(503);
          if (status === 503) expect(text).not.toContain(path.includes('j4') ? '"format"' : BROKEN);
        }
        expect((await api.post('/jobs/j4/ticket')).body).toMatchObject({
          status: 503,
          code: 'store-unavailable',
        });
        const asked = { source: 'guarded', address: '127.0.0.1', headers: { 'X-T': CREDENTIAL } };
        expect((await adminApi(service).post('/explain').send(asked)).status).toBe(503);
        // What is no content is shown all the same.
        await api.get('/health').expect(200);
      } finally {
        await rm(ledger);
        await rename(away, ledger);
      }
      await api.get('/jobs/j4/artefacts/transcript.json').expect(200);
      expect(await readsOf('j4')).toHaveLength(1);
    });

    it('is on the page of the job, and is no delivery', async () => {
      await api.get('/jobs/j1/artefacts/transcript.json').expect(200);
      const { timeline, artefacts } = (await api.get('/jobs/j1')).body;
      expect(timeline.map(({ outcome }: LedgerLine) => outcome)).toContain('read');
      expect(artefacts).toHaveLength(1);
      const outcomesOf = async (query: string) =>
        (await api.get(`/deliveries${query}`)).body.deliveries.map(({ outcome }: LedgerLine) => outcome);
      expect(await outcomesOf('?limit=500')).not.toContain('read');
      expect(new Set(await outcomesOf('?outcome=read'))).toEqual(new Set(['read']));
      expect(await outcomesOf('?origin=admin&limit=500')).toContain('signed-in');
      const { total } = (await api.get('/summary')).body;
      expect(total.lines).toBe((await ledgerOf(service.folder)).length);
      expect(Object.keys(total.outcomes).sort()).toEqual(['quarantined', 'stored']);
      expect((await api.get('/health')).body.last24h.lines).toBe(total.lines);
    });
  });

  describe('a sign-in', () => {
    it('is a line when a token is first used from an address', async () => {
      await adminApi(service).get('/health');
      await adminApi(service).get('/names');
      await until(async () => (await signIns('signed-in')).length === 2);
      expect((await signIns('signed-in')).map(({ actor, clientIp }) => [actor, clientIp]).sort()).toEqual([
        ['desk', '127.0.0.1'],
        ['tester', '127.0.0.1'],
      ]);
      const listed = (await api.get('/deliveries?outcome=signed-in&without=acts')).body.deliveries;
      expect(listed.map(({ actor }: LedgerLine) => actor).sort()).toEqual(['desk', 'tester']);
    });

    it('that fails is a line too, at most one a minute of each cause', async () => {
      for (let n = 0; n < 10; n += 1) await adminApi(service, `guess-number-${n}-of-a-token`).get('/health');
      await anonymous.get('/health');
      await until(async () => (await signIns('sign-in-failed')).length > 0);
      const failed = await signIns('sign-in-failed');
      expect(failed.length).toBeLessThanOrEqual(2);
      expect(failed[0]).toMatchObject({ reason: 'sign-in-wrong', clientIp: '127.0.0.1', jobId: null });
      expect(JSON.stringify(failed)).not.toContain('guess');
    });
  });

  describe('an explanation with a credential', () => {
    it('is a line with the result, and no delivery; further ones in a minute are answered 429', async () => {
      const request = { source: 'guarded', address: '127.0.0.1' };
      const headers = { 'x-t': CREDENTIAL };
      expect((await api.post('/explain').send({ ...request, headers })).body).toMatchObject({
        credential: 'main',
      });
      // Without a credential there is nothing to guess.
      for (let n = 0; n < 12; n += 1) await api.post('/explain').send(request).expect(200);
      // The credential is reported also where the address is refused.
      for (const address of ['10.0.0.1', ...Array<string>(8).fill('127.0.0.1')])
        await api
          .post('/explain')
          .send({ ...request, address, headers: { 'X-T': 'guess' } })
          .expect(200);
      const refused = await api.post('/explain').send({ ...request, headers });
      expect(refused).toMatchObject({ status: 429, body: { code: 'too-many-attempts' } });
      expect(refused.headers['retry-after']).toBe('60');
      await adminApi(service)
        .post('/explain')
        .send({ ...request, headers })
        .expect(200);
      const lines = (await signIns('credential-checked')).filter(({ actor }) => actor === 'desk');
      expect(lines).toHaveLength(10);
      const checked = { origin: 'admin', actor: 'desk', clientIp: '127.0.0.1', source: 'guarded' };
      expect(lines.filter(({ reason }) => reason === null)).toMatchObject([checked]);
      expect(lines.filter(({ reason }) => reason === 'credential-invalid')).toHaveLength(9);
      expect(JSON.stringify(lines)).not.toMatch(/guess|sixteen/);
      const { credentials } = (await api.get('/health')).body;
      expect(credentials).toMatchObject([{ source: 'guarded', credential: 'main', lastUsedAt: null }]);
      expect((await api.get('/deliveries?limit=500')).text).not.toContain('credential-checked');
    });
  });

  async function signIns(outcome: string): Promise<LedgerLine[]> {
    return (await accessLinesOf(service.folder)).filter((line) => line.outcome === outcome);
  }
});

describe('guessing the admin token', () => {
  beforeAll(async () => {
    service = await startService();
    api = adminApi(service);
  });

  afterAll(() => service.stop());

  /** Failed attempts a minute that are answered at once. */
  const RATE = 100;
  const GUESSES = 220;
  const guess = (n: number) => adminApi(service, `guess-number-${n}-of-a-token`).get('/health');

  it('is answered 429 over the rate, while the right token passes', async () => {
    const within = await Promise.all(Array.from({ length: RATE }, (_, n) => guess(n)));
    expect(new Set(within.map(({ status }) => status))).toEqual(new Set([401]));
    const beyond = Promise.all(Array.from({ length: GUESSES - RATE }, (_, n) => guess(RATE + n)));
    expect((await api.get('/health')).status).toBe(200);
    const answers = await beyond;
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
    expect((await api.get('/health')).status).toBe(200);
  });

  it('is counted, listed with its peer, and logged at a bounded rate, without what was guessed', async () => {
    const { body, text: listed } = await api.get('/refusals?limit=500');
    const tried = body.refusals.filter(({ reason }: { reason: string }) => reason === 'sign-in-wrong');
    // They have room of their own, so that a flood of them drives out nothing else.
    expect(tried).toHaveLength(200);
    expect(tried[0]).toMatchObject({ source: null, clientIp: '127.0.0.1', authenticated: false });

    const { text: metrics } = await supertest(service.adminUrl).get('/metrics');
    expect(metrics).toContain(`transcript_receiver_sign_in_failures_total{cause="wrong"} ${GUESSES}`);

    const logged = service.log.filter(
      ({ event, reason }) => event === 'refused' && reason === 'sign-in-wrong',
    );
    expect(logged[0]).toMatchObject({ clientIp: '127.0.0.1' });
    expect(logged.length).toBeLessThan(GUESSES / 2);
    for (const text of [listed, metrics, JSON.stringify(service.log)]) {
      expect(text).not.toContain('guess-number');
    }
  });
});
