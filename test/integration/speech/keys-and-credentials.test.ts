import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.js';
import { createSpeechClients, type SpeechClients } from '../../../src/speech/speech.js';
import { type ManualClock, manualClock } from '../../support/manual-clock.js';
import { watchedAgent } from '../../support/watched-agent.js';

let clock: ManualClock;
let simulator: Simulator;
let clients: SpeechClients;
let agent: ReturnType<typeof watchedAgent>;

function connect(apiKey = simulator.apiKey): SpeechClients {
  return createSpeechClients({
    apiKey,
    auth: 'temporaryKey',
    temporaryKeyTtl: 100_000,
    keysUrl: simulator.keysUrl,
    regions: { eu1: { batchUrl: simulator.batchUrls.eu1 } },
    retries: 0,
    clock,
    dispatcher: agent.dispatcher,
  });
}

beforeEach(async () => {
  agent = watchedAgent();
  clock = manualClock();
  simulator = await createSimulator({ regions: { eu1: 0 }, clock });
  clients = connect();
});

afterEach(async () => {
  await agent.dispatcher.close();
  await simulator.close();
});

const usage = () => clients.jobs('eu1').usage();
const transcript = (id: string) => clients.jobs('eu1').receive(id, 'txt', ({ body }) => body.toArray());
const renewals = () => agent.paths.filter((path) => path.startsWith('/v1/api_keys')).length;

describe('temporary keys of a client', () => {
  // Rule: Authentication: temporary keys in the same header
  // Rule: Authentication: without `client_ref` a key opens any job
  it('are made once for many requests at the same time', async () => {
    await Promise.all(Array.from({ length: 20 }, usage));
    expect(renewals()).toBe(1);
  });

  // Rule: Temporary keys: keys live for `ttl`
  it('are renewed before they expire, so that no request is refused', async () => {
    await usage();
    clock.advance(79_000);
    await usage();
    expect(renewals()).toBe(1);
    clock.advance(1_500);
    await usage();
    expect(renewals()).toBe(2);
    expect(agent.paths).toHaveLength(5);
  });

  // Rule: Authentication: 401 without a valid key
  // Rule: Silences: expired keys
  it('are replaced once when the service refuses them early', async () => {
    await usage();
    simulator.revokeTemporaryKeys();
    await Promise.all([usage(), usage(), usage()]);
    expect(renewals()).toBeLessThanOrEqual(4);
  });

  it('are replaced once and no more when every key is refused', async () => {
    simulator.faults.add({ kind: 'answer', operation: 'usage', status: 401 });
    await expect(usage()).rejects.toMatchObject({ kind: 'unauthorised' });
    expect(renewals()).toBe(2);
  });

  it('are not made anew for every request while all are refused', async () => {
    simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 401 });
    for (let n = 0; n < 200; n += 1) {
      // What else the key opens says nothing about what it does not open.
      if (n % 10 === 0) await usage();
      await expect(transcript(`job${n}`)).rejects.toMatchObject({ status: 401 });
      clock.advance(100);
    }
    expect(renewals()).toBe(2);
    clock.advance(41_000);
    await expect(transcript('job')).rejects.toMatchObject({ status: 401 });
    expect(renewals()).toBe(3);
  });

  it('serve on until their end when renewal fails', async () => {
    await usage();
    simulator.faults.add({ kind: 'answer', operation: 'keys', status: 503, body: '<html>down</html>' });
    clock.advance(90_000);
    await usage();
    clock.advance(11_000);
    await expect(usage()).rejects.toMatchObject({ kind: 'unavailable', operation: 'create temporary key' });
  });

  it('remain available to other callers when one caller aborts', async () => {
    const stop = new AbortController();
    const first = clients.jobs('eu1').usage({}, stop.signal);
    const second = usage();
    stop.abort();
    await expect(first).rejects.toMatchObject({ kind: 'aborted' });
    await second;
    expect(renewals()).toBe(1);
  });
});

describe('the key service', () => {
  // Rule: Temporary keys: POST `/v1/api_keys`, `Bearer`, JSON body
  // Rule: Temporary keys: keys live for `ttl`
  // Rule: Temporary keys: `client_ref` binds to one end-user
  // Rule: Temporary keys: answer: `apikey_id` (string or null), `key_value` (JWT)
  // Rule: Versions: key service below `/v1`
  it('issues JWTs that live as long as asked, bound to an end-user where asked', async () => {
    const key = await clients.keys().create({ type: 'batch', ttlSeconds: 60, clientRef: 'user-7' });
    const { exp = 0, iat = 0, client_ref } = decodeJwt(key.value);
    expect([exp - iat, client_ref, key.id]).toEqual([60, 'user-7', null]);
  });

  // Rule: Temporary keys: `type` is `batch` or `rt`
  // Rule: Authentication: an `rt` key opens no jobs API
  it('issues rt keys, which do not open the jobs API', async () => {
    const key = await clients.keys().create({ type: 'rt', ttlSeconds: 86_400 });
    const response = await fetch(`${simulator.batchUrls.eu1}/v2/jobs/`, {
      headers: { authorization: `Bearer ${key.value}` },
    });
    expect(response.status).toBe(401);
  });

  it.each([
    [{ type: 'batch', ttlSeconds: 59 }],
    [{ type: 'batch', ttlSeconds: 86_401 }],
    [{ type: 'batch', ttlSeconds: 60.5 }],
    [{ type: 'rt', ttlSeconds: 60, clientRef: 'user-7' }],
    // Rule: Temporary keys: `ttl`: 60 to 86400 s, required
    // Rule: Temporary keys: `client_ref` is ignored for `rt` keys
    // Rule: Limits: `ttl` of 60 to 86400 s
  ] as const)('is not bothered with %j', async (order) => {
    await expect(clients.keys().create(order)).rejects.toMatchObject({
      kind: 'invalid-request',
      status: null,
    });
    expect(agent.paths).toEqual([]);
  });

  // Rule: Temporary keys: needs a valid API key
  it('refuses a bad API key', async () => {
    const wrong = connect('not-the-right-key');
    const order = { type: 'batch', ttlSeconds: 60 } as const;
    await expect(wrong.keys().create(order)).rejects.toMatchObject({ kind: 'unauthorised', status: 401 });
  });

  it.each([
    ['type=other', { ttl: 60 }, 422],
    ['type=batch', { ttl: 59 }, 422],
    ['type=rt', { ttl: 86_401 }, 422],
    ['type=batch', { ttl: '60' }, 422],
    ['type=batch', {}, 422],
    ['', { ttl: 60, region: 'usa' }, 201],
    ['type=rt', { ttl: 60, client_ref: 'ignored' }, 201],
    // Rule: Temporary keys: POST `/v1/api_keys`, `Bearer`, JSON body
    // Rule: Temporary keys: `type` is `batch` or `rt`
    // Rule: Temporary keys: `ttl`: 60 to 86400 s, required
    // Rule: Temporary keys: answer: `apikey_id` (string or null), `key_value` (JWT)
    // Rule: Limits: `ttl` of 60 to 86400 s
    // Rule: Versions: key service below `/v1`
  ])('of the simulator answers %s %j with %d', async (query, body, status) => {
    const response = await fetch(`${simulator.keysUrl}/v1/api_keys?${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${simulator.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    expect(response.status).toBe(status);
    expect(Object.keys(answer)).toEqual(status === 201 ? ['apikey_id', 'key_value'] : ['code', 'message']);
  });
});
