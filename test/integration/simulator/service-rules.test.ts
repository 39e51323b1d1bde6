import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { createSimulator, SIMULATED_REGIONS, type Simulator } from '../../../src/simulator/simulator.js';

/** Rules of keys, hosts and job records that the simulator keeps (npm run conformance). */
let simulator: Simulator;

beforeAll(async () => {
  simulator = await createSimulator({ seed: 'rules' });
});
afterAll(() => simulator.close());

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function makeKey(query: string, body: object): Promise<string> {
  const response = await fetch(`${simulator.keysUrl}/v1/api_keys${query}`, {
    method: 'POST',
    headers: { ...bearer(simulator.apiKey), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { key_value: string }).key_value;
}

const record = async (id: string, key = simulator.apiKey) => {
  const response = await fetch(`${simulator.batchUrls.eu1}/v2/jobs/${id}`, { headers: bearer(key) });
  return { status: response.status, job: ((await response.json()) as { job?: Record<string, unknown> }).job };
};

describe('the simulated service', () => {
  // Rule: Hosts: batch: `eu1`, `eu2`, `us1`, `us2`, `au1`
  // Rule: Hosts: all regions at once
  it('serves the five batch regions, each at an address of its own', () => {
    expect(Object.keys(simulator.batchUrls)).toEqual(['eu1', 'eu2', 'us1', 'us2', 'au1']);
    expect(new Set(Object.values(simulator.batchUrls)).size).toBe(SIMULATED_REGIONS.length);
  });

  it.each(['/v2/jobs/', '/v2/jobs/x', '/jobs/x', '/v2/jobs/x/transcript', '/v2/usage'])(
    // Rule: Authentication: requests carry `Bearer` and key
    // Rule: Authentication: 401 without a valid key
    'answers 401 to %s without a key',
    async (path) => expect((await fetch(`${simulator.batchUrls.eu1}${path}`)).status).toBe(401),
  );

  // Rule: Temporary keys: needs a valid API key
  it('answers 401 to a key request without a key, 401 to one with a wrong key, and 403 to one with a temporary key', async () => {
    const ask = (headers: Record<string, string>) =>
      fetch(`${simulator.keysUrl}/v1/api_keys`, { method: 'POST', headers, body: '{"ttl":60}' });
    expect((await ask({})).status).toBe(401);
    expect((await ask(bearer('wrong'))).status).toBe(401);
    expect((await ask(bearer(await makeKey('', { ttl: 60 })))).status).toBe(403);
  });

  // Rule: Temporary keys: `type` defaults to `batch`
  it('takes the type batch where a key request names none', async () => {
    expect(decodeJwt(await makeKey('', { ttl: 60, client_ref: 'u' }))).toMatchObject({
      type: 'batch',
      client_ref: 'u',
    });
  });

  // Rule: Temporary keys: `client_ref` is ignored for `rt` keys
  // Rule: Temporary keys: `region` has no effect
  // Rule: Versions: `region` of keys is accepted
  // Rule: Contradictions: regions `usa` of keys, `us1` of hosts
  it('ignores client_ref for rt keys and region for all', async () => {
    const payload = decodeJwt(await makeKey('?type=rt', { ttl: 60, client_ref: 'u', region: 'usa' }));
    expect([payload.client_ref, payload.region]).toEqual([undefined, undefined]);
  });

  // Rule: Temporary keys: `client_ref` binds to one end-user
  // Rule: Authentication: a key with `client_ref` sees only its own jobs
  // Rule: Authentication: without `client_ref` a key opens any job
  it('shows any job to a temporary key without client_ref, and to one with it only its own', async () => {
    const own = await makeKey('', { ttl: 60, client_ref: 'u' });
    const form = new FormData();
    const config = { type: 'transcription', transcription_config: { language: 'en' } };
    form.set('config', JSON.stringify({ ...config, fetch_data: { url: 'http://127.0.0.1/a.wav' } }));
    const request = { method: 'POST', headers: bearer(own), body: form };
    const created = await fetch(`${simulator.batchUrls.eu1}/v2/jobs`, request);
    const { id } = (await created.json()) as { id: string };
    const foreign = simulator.submit({ config: { type: 'transcription' } });
    const any = await makeKey('', { ttl: 60 });
    const seen = async (job: string, key: string) => (await record(job, key)).status;
    expect([await seen(id, any), await seen(foreign.id, any)]).toEqual([200, 200]);
    expect([await seen(id, own), await seen(foreign.id, own)]).toEqual([200, 404]);
    expect(await seen(id, await makeKey('', { ttl: 60, client_ref: 'v' }))).toBe(404);
  });

  it('has a live host when options of live sessions are given, and none otherwise', async () => {
    expect([simulator.realtimeUrl, simulator.realtime]).toEqual([null, null]);
    const live = await createSimulator({ regions: { eu1: 0 }, realtime: {} });
    expect(live.realtimeUrl).toBe(live.realtime?.origin);
    await live.close();
  });

  // Rule: Job record: `data_name` may be empty
  // Rule: Job record: `config`: `type`, `transcription_config` (`language`, `model`), `fetch_data` (`url`)
  // Rule: Job record: other fields are ignored
  it('keeps the configuration of a job as it was submitted, fields beyond the specification included', async () => {
    const config = {
      type: 'transcription',
      transcription_config: { language: 'en', model: 'enhanced', operating_point: 'enhanced' },
      fetch_data: { url: 'http://127.0.0.1/a.wav', auth_headers: ['X: y'] },
      tracking: { title: 'x' },
    };
    const { id } = simulator.submit({ config });
    expect((await record(id)).job).toMatchObject({ id, config, data_name: '' });
  });
});
