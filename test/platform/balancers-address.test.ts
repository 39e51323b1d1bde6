import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BALANCERS, type Balancer, startBalancer } from '../support/http/balancer.js';
import { rawClient } from '../support/http/raw-http.js';
import { send } from '../support/http/send.js';
import { ledgerOf } from '../support/ledger/ledger-of.js';
import { CREDENTIAL, GUARDED, type Replicas, startReplicas } from '../support/processes/replicas.js';

/* Whose address counts behind real balancers. All of 127.0.0.0/8 is this machine's, so senders can differ. */

const HONEST = '127.0.0.2';
const UNKNOWN_ADDRESS = '127.0.0.3';

let replicas: Replicas;
let sequence = 0;

beforeAll(async () => {
  replicas = await startReplicas({
    sources: { default: { ...GUARDED, allow: ['eu1', HONEST] } },
  });
});

afterAll(() => replicas?.stop());

function call(base: string, from: string, headers: Record<string, string> = {}) {
  sequence += 1;
  const jobId = `address-${sequence}`;
  const { answer } = send(base, {
    path: `/callbacks/default?id=${jobId}&status=success`,
    headers: { ...CREDENTIAL, ...headers },
    from,
    body: '',
  });
  return { jobId, answer };
}

async function lineOf(jobId: string) {
  return (await ledgerOf(replicas.folder)).find((line) => line.jobId === jobId);
}

describe.each(BALANCERS)('behind %s', (kind) => {
  let balancer: Balancer;

  beforeAll(async () => {
    balancer = await startBalancer(kind, { replicas: replicas.addresses });
  });

  afterAll(() => balancer?.stop());

  it('accepts an allowed client and records its address, not the balancer', async () => {
    const { jobId, answer } = call(balancer.url, HONEST);
    expect((await answer).status).toBe(200);
    expect(await lineOf(jobId)).toMatchObject({ clientIp: HONEST });
  });

  it('refuses a client that is not allowed', async () => {
    expect((await call(balancer.url, UNKNOWN_ADDRESS).answer).status).toBe(403);
  });

  it.each([
    ['an allowed address', HONEST],
    ["an address of the service's", '40.74.41.91'],
    ['a chain that ends in the balancer', `${HONEST}, 127.0.0.1`],
    ['the balancer', '127.0.0.1'],
  ])('rejects an unknown address that claims to be %s', async (_, claim) => {
    const { status, json } = await call(balancer.url, UNKNOWN_ADDRESS, { 'X-Forwarded-For': claim }).answer;
    expect(status).toBe(403);
    expect(json).toMatchObject({ code: 'address-refused', detail: expect.stringContaining(UNKNOWN_ADDRESS) });
  });

  it('believes an allowed client nothing about others either', async () => {
    const { jobId, answer } = call(balancer.url, HONEST, { 'X-Forwarded-For': '40.74.41.91, nonsense' });
    expect((await answer).status).toBe(200);
    expect(await lineOf(jobId)).toMatchObject({ clientIp: HONEST, region: null });
  });

  it('lets nothing but callbacks through', async () => {
    for (const path of ['/', '/healthz', '/readyz', '/metrics', '/admin/api/health', '/callbacks']) {
      expect((await send(balancer.url, { path, body: '' }).answer).status).toBe(404);
    }
  });

  it('answers 405 to a monitor, as docs/how-to/alert-without-prometheus.md and a runbook say', async () => {
    const { status } = await fetch(`${balancer.url}/callbacks/default`);
    expect(status).toBe(405);
  });
});

describe('behind two balancers in a row', () => {
  it('walks past both to the client', async () => {
    const inner = await startBalancer('haproxy', { replicas: replicas.addresses });
    const address = new URL(inner.url).host;
    const outer = await startBalancer('nginx', { replicas: [address, address] });
    const honest = call(outer.url, HONEST);
    expect((await honest.answer).status).toBe(200);
    expect(await lineOf(honest.jobId)).toMatchObject({ clientIp: HONEST });
    expect((await call(outer.url, UNKNOWN_ADDRESS, { 'X-Forwarded-For': HONEST }).answer).status).toBe(403);
    await outer.stop();
    await inner.stop();
  });
});

describe('behind a balancer that takes the PROXY protocol', () => {
  it('knows the region an address of the service belongs to', async () => {
    const balancer = await startBalancer('haproxy', {
      replicas: replicas.addresses,
      replace: { 'option forwardfor': 'tcp-request connection expect-proxy layer4\n    option forwardfor' },
    });
    const client = await rawClient(balancer.url);
    await client.send(
      'PROXY TCP4 40.74.41.91 10.0.0.1 40000 80\r\n' +
        'POST /callbacks/default?id=proxied&status=success HTTP/1.1\r\nHost: r\r\nContent-Length: 0\r\n' +
        `X-Callback-Token: ${CREDENTIAL['X-Callback-Token']}\r\n\r\n`,
    );
    expect((await client.answer()).status).toBe(200);
    expect(await lineOf('proxied')).toMatchObject({ clientIp: '40.74.41.91', region: 'eu1' });
    client.close();
    await balancer.stop();
  });
});

describe('a replica without trusted proxies', () => {
  it('sees the balancer in place of every client', async () => {
    const careless = await startReplicas({
      receiver: { trustedProxies: [] },
      sources: { default: { ...GUARDED, allow: [HONEST] } },
    });
    const balancer = await startBalancer('haproxy', { replicas: careless.addresses });
    const { json } = await call(balancer.url, HONEST).answer;
    expect(json).toMatchObject({ code: 'address-refused', detail: expect.stringContaining('127.0.0.1') });
    await balancer.stop();
    await careless.stop();
  });
});
