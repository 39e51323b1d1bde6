import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.js';
import { type RecordingServer, recordingServer } from '../../support/http/recording-server.js';

let simulator: Simulator;
let receiver: RecordingServer;

beforeEach(async () => {
  receiver = await recordingServer();
  simulator = await createSimulator({
    regions: { eu1: 0 },
    realtimePort: 0,
    controlPort: 0,
    timeScale: 0.001,
  });
});

afterEach(async () => {
  await simulator.close();
  await receiver.close();
});

async function control(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; json: never }> {
  const response = await fetch(`${simulator.controlUrl}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as never };
}

describe('the control interface', () => {
  it('drives a simulator in another process: submit, wait, compare, look at what was sent', async () => {
    const { apiKey, keysUrl, batchUrls, realtimeUrl, seed } = simulator;
    expect((await control('GET', '/')).json).toEqual({ apiKey, keysUrl, batchUrls, realtimeUrl, seed });
    const submitted = await control('POST', '/jobs', {
      config: { type: 'transcription', notification_config: [{ url: receiver.url, contents: ['jobinfo'] }] },
    });
    expect(submitted.status).toBe(201);
    const { id } = submitted.json as { id: string };
    await control('POST', '/idle');
    expect((await control('GET', `/jobs/${id}`)).json).toMatchObject({
      region: 'eu1',
      job: { id, status: 'done' },
    });
    const expected = (await control('GET', `/jobs/${id}/expected`)).json as Record<
      string,
      { sha256: string }
    >;
    const sent = receiver.requests[0]?.body ?? Buffer.alloc(0);
    expect(expected.jobinfo?.sha256).toBe(createHash('sha256').update(sent).digest('hex'));
    const bytes = await (await fetch(`${simulator.controlUrl}/jobs/${id}/expected/jobinfo`)).arrayBuffer();
    expect(Buffer.from(bytes).equals(sent)).toBe(true);
    expect((await control('GET', `/deliveries?job=${id}`)).json).toMatchObject({
      deliveries: [{ jobId: id, method: 'POST', answer: { status: 200, body: 'noted' } }],
    });
  });

  it('sets and takes back faults', async () => {
    const { json } = await control('POST', '/faults', { kind: 'drop', rate: 0.5 });
    expect(simulator.faults.list()).toHaveLength(1);
    await control('DELETE', `/faults/${(json as { name: string }).name}`);
    expect(simulator.faults.list()).toHaveLength(0);
  });

  it('rejects invalid requests', async () => {
    expect((await control('POST', '/jobs', { config: {} })).status).toBe(400);
    expect((await control('POST', '/jobs', [])).status).toBe(400);
    expect((await control('POST', '/faults', { rate: 1 })).status).toBe(400);
    expect((await control('POST', '/faults', { kind: 'dorp' })).status).toBe(400);
    expect((await control('GET', '/jobs/unknown')).status).toBe(404);
    expect((await control('GET', '/elsewhere')).status).toBe(404);
  });
});
