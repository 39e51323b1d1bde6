import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Balancer, startBalancer } from '../support/http/balancer.js';
import { accessLinesOf } from '../support/ledger/ledger-of.js';
import { sendCallback } from '../support/processes/admin-api.js';
import { type RunningService, startService } from '../support/processes/running-service.js';

/* The shipped nginx file in front of a real admin port; oauth2-proxy's answer to auth_request is imitated. */

const TRANSCRIPT = JSON.stringify({ format: '2.9', job: { id: 'j1' }, metadata: {}, results: [] });
const GROUPS: Readonly<Record<string, string>> = {
  'anna@example.org': 'staff,admins',
  'ben@example.org': 'desk',
};
const OWN = { 'x-requested-by': 'test' };

let service: RunningService;
let provider: Server;
let nginx: Balancer;

const addressOf = (server: Server) => `127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  provider = createServer((request, response) => {
    const user = /user=([^;]*)/.exec(request.headers.cookie ?? '')?.[1];
    if (user === undefined) return void response.writeHead(401).end();
    const groups = GROUPS[user];
    response.writeHead(202, {
      'x-auth-request-email': user,
      ...(groups === undefined ? {} : { 'x-auth-request-groups': groups }),
    });
    response.end();
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  service = await startService({
    sources: { intake: {} },
    admin: {
      trustedProxies: ['127.0.0.1'],
      proxyAuth: {
        userHeader: 'X-Auth-Request-User',
        groupsHeader: 'X-Auth-Request-Groups',
        groups: {
          desk: { may: ['view'], sources: ['intake'] },
          admins: { may: ['view', 'read', 'repair', 'erase'] },
        },
      },
    },
  });
  const admin = new URL(service.adminUrl).host;
  nginx = await startBalancer('nginx', {
    file: 'nginx-admin.conf',
    replicas: [admin, admin],
    replace: { '10.0.0.21:4180': addressOf(provider), '10.0.0.11:8081': admin },
  });
  await sendCallback(
    service,
    'id=j1&status=success',
    TRANSCRIPT,
    { 'content-type': 'application/json' },
    'intake',
  );
});

afterAll(async () => {
  await nginx?.stop();
  await service?.stop();
  provider?.close();
});

const visit = (path: string, user: string | null, options: RequestInit = {}) =>
  fetch(`${nginx.url}${path}`, {
    redirect: 'manual',
    ...options,
    headers: { ...(user === null ? {} : { cookie: `user=${user}` }), ...options.headers },
  });
const sessionOf = async (user: string, headers: Record<string, string> = {}) =>
  (await visit('/admin/api/session', user, { headers })).json();

describe('behind nginx with auth_request', () => {
  it('a visitor is sent to the sign-in, and a program is answered 401', async () => {
    const page = await visit('/', null);
    expect([page.status, page.headers.get('location')]).toEqual([
      302,
      expect.stringContaining('/oauth2/start?rd=/'),
    ]);
    expect((await visit('/admin/api/session', null, { headers: OWN })).status).toBe(401);
  });

  it('a user has the rights of the group', async () => {
    expect(await (await visit('/', 'anna@example.org')).text()).toContain('Transcript Receiver');
    expect(await sessionOf('anna@example.org')).toMatchObject({
      actor: 'proxy:anna@example.org',
      via: 'proxy',
      may: ['view', 'read', 'repair', 'erase'],
    });
    expect(await sessionOf('ben@example.org')).toMatchObject({ may: ['view'], sources: ['intake'] });
    expect(await sessionOf('carl@example.org')).toMatchObject({ code: 'right-missing' });
  });

  it('nobody gets further by headers of their own', async () => {
    const forged = {
      'X-Auth-Request-User': 'anna@example.org',
      'X-Auth-Request-Groups': 'admins',
      'X-Auth-Request-Email': 'anna@example.org',
      'X-Forwarded-For': '203.0.113.9',
      Authorization: `Bearer ${service.adminToken}`,
    };
    expect(await sessionOf('ben@example.org', forged)).toMatchObject({
      actor: 'proxy:ben@example.org',
      may: ['view'],
    });
    expect(await sessionOf('carl@example.org', forged)).toMatchObject({ code: 'right-missing' });
    expect((await visit('/admin/api/session', null, { headers: { ...forged, ...OWN } })).status).toBe(401);
    expect(JSON.stringify(await accessLinesOf(service.folder))).not.toContain('203.0.113.9');
  });

  it('media are played in ranges without a ticket, and the read is recorded by name', async () => {
    const path = '/admin/api/jobs/j1/artefacts/transcript.json';
    const part = await visit(path, 'anna@example.org', { headers: { range: 'bytes=0-9' } });
    expect([part.status, await part.text()]).toEqual([206, TRANSCRIPT.slice(0, 10)]);
    expect((await visit(path, 'ben@example.org')).status).toBe(403);
    const reads = (await accessLinesOf(service.folder)).filter(({ outcome }) => outcome === 'read');
    expect(reads).toMatchObject([{ actor: 'proxy:anna@example.org', clientIp: '127.0.0.1' }]);
  });

  it('a form of another site changes nothing', async () => {
    const form = { method: 'POST', body: '{"reason":"x"}', headers: { 'content-type': 'text/plain' } };
    expect((await visit('/admin/api/jobs/j1/acknowledge', 'anna@example.org', form)).status).toBe(403);
    const own = { ...form, headers: { 'content-type': 'application/json', ...OWN } };
    expect((await visit('/admin/api/jobs/j1/acknowledge', 'anna@example.org', own)).status).toBe(200);
  });
});
