import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { API_ROUTES } from '../../support/admin-api-routes.js';
import { ledgerOf } from '../../support/ledger/ledger-of.js';
import { type AdminApi, adminApi, sendCallback, sendForm } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../../support/recovery/lost-jobs.js';
import { until } from '../../support/until.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const SECRET = 'correct-horse-battery-staple';
const WRONG = { 'x-callback-token': 'wrong-wrong-wrong-wrong' };
const transcriptOf = (id: string) =>
  JSON.stringify({ format: '2.9', job: { id }, metadata: {}, results: [] });
const may = ['view', 'read', 'repair', 'erase'];
const tokens = {
  clinic: { token: 'token-of-the-clinic-0123456789', may, sources: ['clinic'] },
  court: { token: 'token-of-the-court-0123456789', may, sources: ['court'] },
};

let lost: LostJobs;
let service: RunningService;
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
        ...{
          url: 'http://127.0.0.1:9/',
          secrets: ['whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='],
        },
        ...{ events: ['job.stored'], sources: ['court'] },
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

describe('a token for one source', () => {
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
    const [own, all] = [(await clinic.get('/health')).body, (await everything.get('/health')).body];
    expect(own.scope).toEqual({ sources: ['clinic'] });
    expect(all.scope).toBeNull();
    expect(own).toMatchObject({
      ...{ quarantine: null, reconcile: null, verify: null, regions: [], noRegion: null, budget: null },
      ...{ activeDeliveries: null, ledger: { rows: null, unreadable: null } },
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
      const [court, unknown] = [await clinic.get(`${path}court`), await clinic.get(`${path}nobody`)];
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
    const [court, unknown] = [await clinic.get('/jobs/court-1'), await clinic.get('/jobs/nobody')];
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
    const [own, foreign, nobodys] = [await submit('clinic'), await submit('court'), await submit(null)];
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
