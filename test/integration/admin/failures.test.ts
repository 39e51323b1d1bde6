import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type AdminApi, adminApi, sendCallback } from '../../support/admin-api.js';
import { type RunningService, startService } from '../../support/running-service.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const transcript = (content: string) => JSON.stringify({ format: '2.9', metadata: {}, results: [], content });

let service: RunningService;
let api: AdminApi;

beforeEach(async () => {
  service = await startService({ sources: { default: { maxBytes: '1KiB' } } });
  api = adminApi(service);
});
afterEach(() => service.stop());

const send = (job: string, body?: string) =>
  sendCallback(service, `id=${job}&status=success`, body, JSON_TYPE);
const failing = async () => {
  const { json } = await api('/failures');
  return { jobs: json.failures.map(({ jobId }: { jobId: string }) => jobId), counts: json.counts };
};

describe('failing jobs', () => {
  it('are those that nothing settled since, newest first', async () => {
    expect(await failing()).toEqual({ jobs: [], counts: {} });
    await send('fine', transcript('a'));
    await send('large', transcript('a'.repeat(2000)));
    await send('cured', transcript('a'.repeat(2000)));
    await send('cured', transcript('a'));
    await send('again', transcript('a'));
    await send('again', transcript('a'.repeat(2000)));
    expect(await failing()).toEqual({ jobs: ['again', 'large'], counts: { refused: 2 } });
    expect((await api('/failures?limit=1')).json).toMatchObject({
      failures: [{ jobId: 'again' }],
      counts: { refused: 2 },
    });
    expect((await api('/failures?limit=0')).status).toBe(400);
  });

  it('stay in conflict whatever comes after, until they are erased', async () => {
    await send('two', transcript('a'));
    await send('two', transcript('b'));
    await send('two', transcript('a'));
    await send('two', transcript('a'.repeat(2000)));
    expect(await failing()).toEqual({ jobs: ['two'], counts: { conflict: 1 } });
    await api('/jobs/two', { method: 'DELETE' });
    expect(await failing()).toEqual({ jobs: [], counts: {} });
  });
});
