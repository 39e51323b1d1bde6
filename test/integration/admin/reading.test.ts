import { rm, symlink } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import supertest from 'supertest';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { ledgerOf } from '../../support/ledger/ledger-of.js';
import { type AdminApi, adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { until } from '../../support/until.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const TRANSCRIPT = JSON.stringify({ format: '2.9', job: { id: 'j1' }, metadata: {}, results: [] });
const idOf = ({ deliveryId }: LedgerLine) => deliveryId;
const SECRET = 'correct-horse-battery-staple';

let service: RunningService;
let api: AdminApi;
/** Without a token. */
let anonymous: AdminApi;
let quarantined: string;

beforeAll(async () => {
  service = await startService({
    sources: {
      default: {},
      team: { keyPrefix: 'team/' },
      guarded: { credentials: { main: { headers: [`X-Callback-Token: ${SECRET}`] } } },
    },
  });
  api = adminApi(service);
  anonymous = adminApi(service, null);
  await sendCallback(service, 'id=j1&status=success', TRANSCRIPT, JSON_TYPE);
  await sendCallback(service, 'id=j1&status=success', `${TRANSCRIPT} `, JSON_TYPE);
  await sendCallback(service, 'id=t1&status=error', undefined, {}, 'team');
  await sendCallback(service, 'id=t1&status=success', 'hello', { 'content-type': 'text/plain' }, 'team');
  await sendCallback(service, 'id=j2', undefined);
  await sendCallback(service, 'id=j2&status=success', undefined, {}, 'guarded');
  await sendCallback(service, 'id=j2&status=success', undefined, { 'x-callback-token': 'wrong' }, 'guarded');
  const broken = await sendCallback(service, 'id=q1&status=success', '{"broken\u0000"', JSON_TYPE);
  quarantined = String(broken.json.deliveryId);
});

afterAll(() => service.stop());

describe('signing in', () => {
  it('refuses a wrong token everywhere', async () => {
    for (const path of ['/health', '/nothing-here', '/jobs/j1/refetch']) {
      const answer = await anonymous.get(path).set({ authorization: 'Bearer wrong-wrong-wrong-wrong' });
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
      expect(answer.headers['content-type']).toBe('application/problem+json');
      expect(answer.body).toMatchObject({ code: 'credential-invalid', status: 401 });
    }
  });
});

describe('health', () => {
  it('sums up', async () => {
    // On a busy machine the index may take longer than a request waits for it.
    await until(async () => (await api.get('/health')).body.quarantine?.waiting === 1);
    const { status, body, headers } = await api.get('/health');
    expect(body.callbackAddress).toEqual({ url: null, port: Number(new URL(service.publicUrl).port) });
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toMatchObject({
      verdict: {
        level: 'failing',
        index: { since: null, until: expect.any(String), missing: [] },
        unseen: [],
        issues: [
          {
            topic: 'failures',
            code: 'jobs-failing',
            params: { jobs: 1, outcomes: { conflict: 1 }, since: expect.any(String) },
          },
          { topic: 'reconcile', code: 'reconcile-not-configured', params: {} },
          { topic: 'quarantine', code: 'quarantine-growing', params: { bodies: 1 } },
        ],
      },
      failing: { conflict: 1 },
      service: { configured: false, interval: null },
      version: 'test',
      ready: true,
      draining: false,
      store: { writable: true, reason: null },
      budget: { used: 0, waiters: 0 },
      quarantine: { waiting: 1, released: 0 },
      reconcile: null,
      verify: null,
      credentials: [{ source: 'guarded', credential: 'main', state: 'unused', lastUsedAt: null }],
    });
    expect(body.last24h.outcomes).toMatchObject({ stored: 2, conflict: 1, noted: 1, quarantined: 1 });
    expect(body.index).toEqual({ since: null, until: expect.any(String), missing: [] });
    // The names of headers, never their secrets.
    expect(body.sources).toContainEqual({ source: 'guarded', headers: ['X-Callback-Token'] });
  });

  it('draws charts', async () => {
    const { status, body } = await api.get('/summary?buckets=4');
    expect(status).toBe(200);
    expect(body.buckets).toHaveLength(4);
    expect((await api.get('/summary?buckets=0')).body.code).toBe('request-invalid');
  });
});

describe('deliveries', () => {
  it('lists ledger lines, newest first, with filters and cursor', async () => {
    const all = await api.get('/deliveries');
    expect(all.body.deliveries.map((line: { jobId: string }) => line.jobId)).toEqual([
      'q1',
      null,
      't1',
      't1',
      'j1',
      'j1',
    ]);
    const team = await api.get('/deliveries?source=team&limit=1');
    expect(team.body.deliveries).toEqual([expect.objectContaining({ jobId: 't1', status: 'success' })]);
    const next = await api.get(`/deliveries?source=team&limit=1&cursor=${team.body.nextCursor}`);
    expect(next.body).toEqual({
      deliveries: [expect.objectContaining({ status: 'error', outcome: 'noted' })],
      nextCursor: null,
      index: { since: null, until: expect.any(String), missing: [] },
    });
  });

  it('filters like a scan of every ledger line', async () => {
    const lines = (await ledgerOf(service.folder)).toReversed();
    const values = (of: (line: LedgerLine) => string | null) =>
      [undefined, ...new Set(lines.map(of))].filter((value) => value !== null);
    for (const source of values((line) => line.source)) {
      for (const status of values((line) => line.status)) {
        for (const outcome of values((line) => line.outcome)) {
          const filters = Object.entries({ source, status, outcome }).filter(
            ([, value]) => value !== undefined,
          );
          const { body } = await api.get(`/deliveries?${new URLSearchParams(filters as [string, string][])}`);
          const expected = lines.filter((line) =>
            filters.every(([name, value]) => line[name as 'source' | 'status' | 'outcome'] === value),
          );
          expect(body.deliveries.map(idOf).toSorted()).toEqual(expected.map(idOf).toSorted());
        }
      }
    }
  });

  it('names the known names in the rejection of a misspelt filter, in every list', async () => {
    const refused = async (path: string) => (await api.get(path)).body.detail;
    expect(await refused('/deliveries?outcome=storred')).toMatch(
      /^outcome: "storred" is not known; known are stored, /,
    );
    expect(await refused('/failures?region=eu9')).toMatch(
      /^region: "eu9" .*known are au1, eu1, eu2, us1, us2\.$/,
    );
    expect(await refused('/quarantine?source=nobody')).toMatch(/^source: "nobody" .* team\.$/);
    const selector = { kind: 'refetch', status: 'sucess' };
    const { status, body } = await api.post('/replays').send({ selector, dryRun: true });
    expect([status, body.detail]).toEqual([
      400,
      expect.stringMatching(/^status: "sucess" .* success, error, /),
    ]);
    expect((await api.get('/names')).body).toMatchObject({ regions: ['au1', 'eu1', 'eu2', 'us1', 'us2'] });
  });

  it.each([
    'limit=0',
    'limit=501',
    'limit=x',
    'cursor=nonsense',
    'since=yesterday',
    'colour=blue',
    'job=a&job=b',
    `job=${'a'.repeat(300)}`,
    'outcome=storred',
    'region=eu9',
    'status=sucess',
    'source=nobody',
    'origin=callbacks',
    'without=callbacks',
    'since=2026-02-02&until=2026-02-01',
  ])('refuses %s', async (query) => {
    const { status, body } = await api.get(`/deliveries?${query}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'request-invalid', detail: expect.any(String) });
  });
});

describe('a job', () => {
  it('is shown completely', async () => {
    const { status, body } = await api.get('/jobs/j1');
    expect(status).toBe(200);
    expect(body).toMatchObject({ jobId: 'j1', service: null, index: { since: null, missing: [] } });
    expect(body.artefacts).toEqual([
      {
        key: 'jobs/j1/transcript.json',
        kind: 'transcript.json-v2',
        size: TRANSCRIPT.length,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        contentType: 'application/json',
        origin: 'callback',
        replaced: null,
        storedAt: expect.stringMatching(/Z$/),
      },
      expect.objectContaining({
        key: expect.stringMatching(/^jobs\/j1\/conflicts\/transcript\.json\.[0-9a-f]{64}$/),
        kind: 'transcript.json-v2',
      }),
    ]);
    expect(body.timeline.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['stored', 'conflict']);
  });

  it('is found below the prefix of its source', async () => {
    const { body } = await api.get('/jobs/t1');
    expect(body.artefacts.map(({ key }: { key: string }) => key)).toEqual(['team/jobs/t1/transcript.txt']);
  });

  it.each([
    '/jobs/unknown',
    '/jobs/..%2f..',
    '/jobs/a%20b',
    '/jobs/j1/artefacts/nothing',
    `/jobs/j1/artefacts/${'x'.repeat(300)}`,
    `/jobs/j1/artefacts/jobs/j1/${'ü'.repeat(128)}`,
    '/jobs/j1/artefacts/a%5Cb',
    '/jobs/j1/artefacts/a%00b',
    '/jobs/j1/artefacts/..%2f..%2fetc',
  ])('is not found: %s', async (path) => {
    const { status, body } = await api.get(path);
    expect(status).toBe(404);
    expect(body.code).toBe('not-found');
  });
});

describe('a link in place of an artefact', () => {
  it('is not followed, and named for the operator who has to remove it', async () => {
    await symlink('/etc/hostname', `${service.folder}/jobs/j1/transcript.srt`);
    const { status, body } = await api.get('/jobs/j1/artefacts/transcript.srt');
    await rm(`${service.folder}/jobs/j1/transcript.srt`);
    expect([status, body.code]).toEqual([503, 'store-unavailable']);
    expect(body.detail).toMatch(
      /until an operator has repaired it.*symbolic link.*"jobs\/j1\/transcript\.srt"/,
    );
  });
});

describe('an artefact', () => {
  const path = '/jobs/j1/artefacts/transcript.json';

  it('is downloaded byte for byte, as a file and never as a page', async () => {
    const { status, text, headers } = await api.get(path);
    expect(status).toBe(200);
    expect(text).toBe(TRANSCRIPT);
    expect(headers['content-disposition']).toMatch(/^attachment; filename="j1-transcript.json"/);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['content-security-policy']).toContain('sandbox');
    expect((await api.get('/jobs/t1/artefacts/team/jobs/t1/transcript.txt')).text).toBe('hello');
  });

  it('is read in ranges', async () => {
    const answer = await api.get(path).set({ range: 'bytes=5-8' });
    expect(answer).toMatchObject({ status: 206, text: TRANSCRIPT.slice(5, 9) });
    expect(answer.headers['content-range']).toBe(`bytes 5-8/${TRANSCRIPT.length}`);
  });

  it('says when a range lies outside', async () => {
    const answer = await api.get(path).set({ range: 'bytes=5000-' });
    expect(answer.status).toBe(416);
    expect(answer.headers['content-range']).toBe(`bytes */${TRANSCRIPT.length}`);
    expect(answer.body.code).toBe('range-not-satisfiable');
  });

  it('is described by HEAD without its body', async () => {
    const head = await api.head(path);
    expect(head.status).toBe(200);
    expect(head.headers['content-length']).toBe(String(TRANSCRIPT.length));
    const etag = head.headers.etag ?? '';
    expect((await api.get(path).set({ 'if-none-match': etag })).status).toBe(304);
    expect((await api.get(path).set({ 'if-none-match': `"other", W/${etag}` })).status).toBe(304);
    expect((await api.get(path).set({ 'if-none-match': '"other"' })).status).toBe(200);
    const changed = { range: 'bytes=0-3', 'if-range': '"other"' };
    expect((await api.get(path).set(changed)).status).toBe(200);
    expect((await api.get(path).set({ ...changed, 'if-range': etag })).status).toBe(206);
  });

  it('opens with a ticket of its own job only', async () => {
    const { body } = await api.post('/jobs/j1/ticket');
    const open = (job: string, ticket: string) =>
      anonymous.get(`/jobs/${job}/artefacts/transcript.json?ticket=${ticket}`);
    expect((await open('j1', body.ticket)).text).toBe(TRANSCRIPT);
    expect((await open('t1', body.ticket)).status).toBe(401);
    expect((await open('j1', body.ticket.replace(/\.\d+\./, '.9999999999999.'))).status).toBe(401);
    expect((await anonymous.get(`/jobs/j1?ticket=${body.ticket}`)).status).toBe(401);
  });
});

describe('quarantine', () => {
  it('lists waiting bodies', async () => {
    const { body } = await api.get('/quarantine');
    expect(body).toEqual({
      quarantine: [
        expect.objectContaining({
          deliveryId: quarantined,
          jobId: 'q1',
          reason: 'json-invalid',
          state: 'waiting',
        }),
      ],
      nextCursor: null,
      index: { since: null, until: expect.any(String), missing: [] },
    });
    expect((await api.get('/quarantine?state=released')).body.quarantine).toEqual([]);
    expect((await api.get('/quarantine?job=other')).body.quarantine).toEqual([]);
    expect((await api.get('/quarantine?cursor=xyz')).status).toBe(400);
    expect((await api.get('/quarantine?state=gone')).status).toBe(400);
    expect((await api.get('/quarantine?reason=json-invalid')).status).toBe(200);
    const unknown = await api.get('/quarantine?reason=json-invaild');
    expect(unknown.status).toBe(400);
    expect(unknown.body.detail).toMatch(/reason.*json-invalid/);
  });

  it('shows a body safely and says whether it would decode today', async () => {
    const { body } = await api.get(`/quarantine/${quarantined}`);
    expect(body).toMatchObject({
      preview: { text: '{"broken\ufffd"', truncated: false, binary: true },
      decodes: { ok: false, reason: 'json-invalid' },
    });
    const raw = await api.get(`/quarantine/${quarantined}/body`);
    expect(raw.text).toBe('{"broken\u0000"');
    expect(raw.headers['content-type']).toBe('application/octet-stream');
  });

  it.each(['/quarantine/01ARZ3NDEKTSV4RRFFQ69G5FAV', '/quarantine/..%2fjobs', '/quarantine/x/body'])(
    'does not find %s',
    async (path) => expect((await api.get(path)).status).toBe(404),
  );
});

describe('refusals', () => {
  it('lists unauthenticated and authenticated refusals together', async () => {
    const { body } = await api.get('/refusals');
    const isSignIn = ({ reason }: { reason: string }) => reason.startsWith('sign-in-');
    expect(body.refusals.filter((refusal: { reason: string }) => !isSignIn(refusal))).toEqual([
      // The answer to the sender is the same for both.
      expect.objectContaining({
        reason: 'credential-invalid',
        cause: 'credential-wrong',
        source: 'guarded',
        authenticated: false,
      }),
      expect.objectContaining({
        reason: 'credential-invalid',
        cause: 'credential-missing',
        source: 'guarded',
        authenticated: false,
      }),
      expect.objectContaining({
        reason: 'query-invalid',
        cause: null,
        source: 'default',
        authenticated: true,
      }),
    ]);
    expect(body.nextCursor).toBeNull();
    expect((await api.get('/refusals?cursor=bm9uc2Vuc2U')).status).toBe(400);
  });
});

describe('explain', () => {
  it('says what would happen and why', async () => {
    const explain = (json: object) => api.post('/explain').send(json);
    expect((await explain({ address: '127.0.0.1' })).body).toMatchObject({
      decision: 'accept',
      status: 200,
      rule: '127.0.0.0/8',
    });
    const headers = { 'X-Callback-Token': SECRET };
    expect((await explain({ source: 'guarded', address: '::1', headers })).body).toMatchObject({
      decision: 'accept',
      credential: 'main',
    });
    expect((await explain({ source: 'guarded', address: '10.0.0.1' })).body).toMatchObject({ status: 403 });
    expect((await explain({})).status).toBe(400);
    expect((await explain({ address: 5 })).status).toBe(400);
    expect((await explain([])).status).toBe(400);
  });
});

describe('everything else', () => {
  it('is not found, or not allowed', async () => {
    expect((await api.get('/nothing')).body).toMatchObject({ status: 404, code: 'not-found' });
    expect((await api.get('/%ff')).status).toBe(404);
    const wrong = await api.delete('/health');
    expect(wrong.body).toMatchObject({ status: 405, code: 'method-not-allowed' });
    expect(wrong.headers.allow).toBe('GET, HEAD');
    const metrics = await supertest(service.adminUrl).post('/metrics');
    expect(metrics).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
    const elsewhere = await supertest(service.adminUrl).get('/elsewhere');
    expect(elsewhere.status).toBe(404);
    expect(elsewhere.headers['content-security-policy']).toContain("default-src 'none'");
  });
});

it('a cursor continues its own list only: elsewhere it would pass over entries', async () => {
  const lists = ['deliveries', 'refusals', 'failures', 'quarantine', 'replays'];
  const cursors: string[] = [];
  for (const list of lists) cursors.push((await api.get(`/${list}?limit=1`)).body.nextCursor);
  expect(cursors.filter((cursor) => cursor !== null).length).toBeGreaterThan(1);
  for (const [of, cursor] of cursors.entries()) {
    for (const [on, list] of cursor === null ? [] : lists.entries()) {
      const { status } = await api.get(`/${list}?limit=1&cursor=${cursor}`);
      expect([lists[of], list, status]).toEqual([lists[of], list, of === on ? 200 : 400]);
    }
  }
});
