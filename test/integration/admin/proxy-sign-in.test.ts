import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { accessLinesOf } from '../../support/ledger/ledger-of.js';
import { type AdminApi, adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { until } from '../../support/until.js';

const USER = 'x-auth-request-user';
const GROUPS = 'x-auth-request-groups';
const OWN = { 'x-requested-by': 'test' };
const TRANSCRIPT = JSON.stringify({ format: '2.9', job: { id: 'j1' }, metadata: {}, results: [] });

let service: RunningService;
/** Without a token. All tests send from 127.0.0.1, which is the proxy here, unless they say otherwise. */
let proxied: AdminApi;

beforeAll(async () => {
  service = await startService({
    sources: { intake: {}, court: {} },
    admin: {
      trustedProxies: ['127.0.0.1'],
      proxyAuth: {
        userHeader: 'X-Auth-Request-User',
        groupsHeader: 'X-Auth-Request-Groups',
        users: { 'anna@example.org': { may: ['view', 'read', 'repair'] } },
        groups: {
          desk: { may: ['view'], sources: ['intake'] },
          admins: { may: ['view', 'read', 'repair', 'erase'] },
        },
      },
    },
  });
  proxied = adminApi(service, null);
  const headers = { 'content-type': 'application/json' };
  await sendCallback(service, 'id=j1&status=success', TRANSCRIPT, headers, 'intake');
});

afterAll(() => service.stop());

const sessionOf = async (headers: Record<string, string>) =>
  (await proxied.get('/session').set(headers)).body;

describe('a user whom a trusted proxy names', () => {
  it('has the rights of the configuration: of the user, else of the first group that counts', async () => {
    const anna = { [USER]: 'anna@example.org', [GROUPS]: 'admins' };
    expect(await sessionOf(anna)).toEqual({
      ...{ actor: 'proxy:anna@example.org', via: 'proxy', sources: null },
      may: ['view', 'read', 'repair'],
    });
    const desk = { may: ['view'], sources: ['intake'] };
    expect(await sessionOf({ [USER]: 'ben', [GROUPS]: 'desk' })).toMatchObject(desk);
    // Not the sum: that would be every right for every source.
    expect(await sessionOf({ [USER]: 'ben', [GROUPS]: 'admins, desk' })).toMatchObject(desk);
    expect(await sessionOf({ [USER]: 'eve', [GROUPS]: 'strangers' })).toMatchObject({
      code: 'right-missing',
    });
    expect(await sessionOf({ [USER]: '__proto__' })).toMatchObject({ code: 'right-missing' });
  });

  it('is recorded by name with the address that the proxy forwards', async () => {
    const headers = { [USER]: 'anna@example.org', 'x-forwarded-for': '203.0.113.9, 198.51.100.7' };
    const path = '/jobs/j1/artefacts/transcript.json';
    expect((await proxied.get(path).set(headers)).text).toBe(TRANSCRIPT);
    const lines = await accessLinesOf(service.folder);
    expect(lines.filter(({ outcome }) => outcome === 'read')).toMatchObject([
      { actor: 'proxy:anna@example.org', clientIp: '198.51.100.7' },
    ]);
  });

  it('needs no ticket', async () => {
    const asked = await proxied.post('/jobs/j1/ticket').set({ [USER]: 'anna@example.org', ...OWN });
    expect(asked.body).toMatchObject({ status: 409, code: 'conflict' });
  });

  it.each(['a,b', 'a\u00e4b', `a${'b'.repeat(200)}`, ' '])('is refused under the name %j', async (name) => {
    const answer = await proxied.get('/health').set(USER, Buffer.from(name).toString('latin1'));
    expect(answer.status).toBe(401);
  });

  it('is refused when named twice, also by the same name', async () => {
    for (const header of [USER, GROUPS]) {
      const value = header === USER ? 'anna@example.org' : 'desk';
      const twice = header === USER ? [value, value] : 'anna@example.org';
      const { status } = await raw({ [USER]: twice, [GROUPS]: header === GROUPS ? [value, value] : value });
      expect(status).toBe(401);
    }
  });
});

describe('the header of anybody else', () => {
  it('is ignored and counted', async () => {
    const before = await ignored();
    const headers = { [USER]: 'anna@example.org' };
    expect((await raw(headers, '127.0.0.2')).status).toBe(401);
    const authorization = `Bearer ${service.adminToken}`;
    const { status, body } = await raw({ ...headers, authorization }, '127.0.0.2');
    expect([status, JSON.parse(body).actor]).toEqual([200, 'tester']);
    expect(await ignored()).toBe(before + 2);
  });

  it('gives no address either', async () => {
    const authorization = `Bearer ${service.adminToken}`;
    await raw({ authorization, 'x-forwarded-for': '203.0.113.66' }, '127.0.0.3');
    const addresses = async () => (await accessLinesOf(service.folder)).map(({ clientIp }) => clientIp);
    await until(async () => (await addresses()).includes('127.0.0.3'));
    expect(await addresses()).not.toContain('203.0.113.66');
  });
});

describe('a page of another site, in the browser of a user of the proxy,', () => {
  const anna = { [USER]: 'anna@example.org' };
  const refused = { status: 403, code: 'cross-site' };

  it.each(['cross-site', 'same-site'])('cannot cause a request (%s)', async (site) => {
    const headers = { ...anna, 'sec-fetch-site': site };
    expect((await proxied.get('/jobs/j1/artefacts/transcript.json').set(headers)).body).toMatchObject(
      refused,
    );
    const change = proxied.post('/jobs/j1/acknowledge').set({ ...headers, ...OWN });
    expect((await change.send({ reason: 'x' })).body).toMatchObject(refused);
  });

  it('cannot send a form: a change needs a header that forms cannot have', async () => {
    const form = { ...anna, 'content-type': 'text/plain' };
    const body = '{"reason":"forged"}';
    expect((await proxied.post('/jobs/j1/acknowledge').set(form).send(body)).body).toMatchObject(refused);
    const own = { ...anna, ...OWN, 'sec-fetch-site': 'same-origin' };
    expect((await proxied.post('/jobs/j1/acknowledge').set(own).send({ reason: 'x' })).status).toBe(200);
  });

  it('is never told that it may send that header', async () => {
    const asked = {
      ...anna,
      origin: 'https://evil.example',
      'access-control-request-headers': 'x-requested-by',
    };
    const { headers } = await raw(asked, '127.0.0.1', 'OPTIONS');
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

async function ignored(): Promise<number> {
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  return Number(/^transcript_receiver_proxy_headers_ignored_total (\d+)/m.exec(metrics)?.[1]);
}

/** Sends repeated headers, and from another address. */
async function raw(headers: Record<string, string | string[]>, localAddress = '127.0.0.1', method = 'GET') {
  const sent = request(`${service.adminUrl}/admin/api/session`, {
    method,
    headers,
    localAddress,
    agent: false,
  });
  return new Promise<{ status: number | undefined; headers: object; body: string }>((resolve, reject) => {
    sent.once('error', reject).once('response', async (response) => {
      resolve({ status: response.statusCode, headers: response.headers, body: await text(response) });
    });
    sent.end();
  });
}
