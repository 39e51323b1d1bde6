import { copyFileSync, writeFileSync } from 'node:fs';
import { type Agent, request, Agent as TlsAgent } from 'node:https';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AdminCertificate, openCertificate } from '../../../src/admin/admin-certificate.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const FIXTURES = fileURLToPath(new URL('../../support/http/certificates/', import.meta.url));

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const cert = () => path.join(folder.path, 'cert.pem');
const key = () => path.join(folder.path, 'key.pem');

function put(certificate: string, keyOf = certificate): void {
  copyFileSync(`${FIXTURES}${certificate}.cert.pem`, cert());
  copyFileSync(`${FIXTURES}${keyOf}.key.pem`, key());
}

beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

describe('the admin port with certificate files', () => {
  let service: RunningService;
  const agent: Agent = new TlsAgent({ keepAlive: true, rejectUnauthorized: false });

  beforeAll(async () => {
    put('first');
    service = await startService({
      sources: { intake: {} },
      limits: { maxAdminConnections: 16 },
      admin: { hosts: ['admin.example'], tls: { cert: cert(), key: key() } },
    });
  });
  afterAll(async () => {
    agent.destroy();
    await service.stop();
  });

  function get(at: string, headers: Record<string, string> = {}, options: { agent?: Agent } = {}) {
    const authorization = `Bearer ${service.adminToken}`;
    return new Promise<{ headers: Record<string, unknown>; body: string; name: unknown }>(
      (resolve, reject) => {
        const sent = request(`${service.adminUrl}${at}`, {
          headers: { authorization, ...headers },
          rejectUnauthorized: false,
          agent: options.agent ?? new TlsAgent({ rejectUnauthorized: false }),
        });
        sent.once('error', reject).once('response', async (response) => {
          const { subject } = (response.socket as TLSSocket).getPeerCertificate();
          resolve({ headers: response.headers, body: await text(response), name: subject?.CN });
        });
        sent.end();
      },
    );
  }

  function connectTls(): Promise<TLSSocket> {
    const { hostname, port } = new URL(service.adminUrl);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
      // Closed to make room for the next one.
      socket.on('error', () => undefined);
      socket.once('secureConnect', () => resolve(socket)).once('close', () => reject(new Error('closed')));
    });
  }

  it('speaks HTTPS, says so in its address, and tells when the certificate ends', async () => {
    expect(service.adminUrl).toMatch(/^https:/);
    const { body, name } = await get('/admin/api/health');
    expect(name).toBe('first.test');
    expect(JSON.parse(body).tls).toEqual({ expires: expect.stringMatching(/^21\d\d-/), error: null });
    await expect(fetch(service.adminUrl.replace('https:', 'http:'))).rejects.toThrow();
  });

  it('asks browsers to stay with HTTPS only for names of its own', async () => {
    const hsts = async (host: string) => (await get('/', { host })).headers['strict-transport-security'];
    expect(await hsts('admin.example:8081')).toBe('max-age=31536000');
    expect(await hsts('localhost:8081')).toBeUndefined();
    expect(await hsts('127.0.0.1')).toBeUndefined();
  });

  it('keeps a connection of a signed-in client while others come and go', async () => {
    const kept = await get('/admin/api/session', {}, { agent });
    expect(kept.body).toContain('tester');
    const [before] = Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
    // More than the port takes: those that wait without having signed in make room.
    const idle = await Promise.all(Array.from({ length: 18 }, connectTls));
    await get('/admin/api/session', {}, { agent });
    const [after] = Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
    expect(before).toBeDefined();
    expect(after).toBe(before);
    for (const socket of idle) socket.destroy();
  });
});

describe('certificate files that change', () => {
  const changes: (string | null)[] = [];
  const applied: string[] = [];
  let certificate: AdminCertificate;

  beforeAll(() => {
    put('first');
    certificate = openCertificate({ cert: cert(), key: key() }, { onChange: (error) => changes.push(error) });
    certificate.follow((pair) => applied.push(pair.cert.toString()));
  });
  afterAll(() => certificate.stop());

  it('are served when they are a pair, and reported once when they are not', async () => {
    await certificate.check();
    expect(changes).toEqual([]);
    for (const broken of [() => put('second', 'first'), () => writeFileSync(cert(), 'no certificate')]) {
      broken();
      await certificate.check();
      await certificate.check();
      expect(changes.splice(0)).toEqual([expect.stringMatching(/./)]);
      expect(certificate.status().error).not.toBeNull();
    }
    expect(applied).toEqual([]);
    put('second');
    await certificate.check();
    expect(changes.splice(0)).toEqual([null]);
    expect(applied).toHaveLength(1);
    expect(certificate.pair().cert.toString()).toBe(applied[0]);
    expect(certificate.status().error).toBeNull();
  });

  it('that are no pair prevent the start', () => {
    put('first', 'second');
    const open = () => openCertificate({ cert: cert(), key: key() }, { onChange: () => undefined });
    expect(open).toThrow(/^admin\.tls: /);
  });
});
