import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { accessLinesOf, ledgerOf } from '../../support/ledger/ledger-of.js';
import { type AdminApi, adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { until } from '../../support/until.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const BROKEN = '{"broken\u0000"';
const transcriptOf = (id: string) =>
  JSON.stringify({ format: '2.9', job: { id }, metadata: {}, results: [] });
const CREDENTIAL = 'a-secret-of-sixteen';
const desk = { token: 'token-of-the-desk-0123456789', may: ['view', 'read'] };

let service: RunningService;
let api: AdminApi;
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
        ...{ origin: 'admin', outcome: 'read', actor: 'desk', clientIp: '127.0.0.1', source: 'intake' },
        ...{ method: 'GET', status: null, bytes: 0 },
        items: [
          {
            ...{ kind: 'transcript.json-v2', key: 'jobs/j1/transcript.json', outcome: 'read' },
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
    const [ledger, away] = [join(service.folder, 'ledger'), join(service.folder, '.ledger-away')];
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
