import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.js';

let simulator: Simulator;
let now = Date.parse('2026-03-01T12:00:00Z');
const ids: Record<string, string> = {};

beforeAll(async () => {
  simulator = await createSimulator({
    regions: { eu1: 0, us1: 0 },
    seed: 'api',
    timing: { now: () => now, sleep: async () => {} },
  });
  const config = { type: 'transcription' };
  for (const name of ['running', 'done', 'deleted', 'expired']) ids[name] = simulator.submit({ config }).id;
  ids.rejected = simulator.submit({ config, outcome: 'fetch_error' }).id;
  ids.elsewhere = simulator.submit({ config, region: 'us1' }).id;
  await simulator.idle();
  for (const name of ['running', 'deleted', 'expired']) simulator.setStatus(ids[name] ?? '', name);
});

afterAll(() => simulator.close());

async function ask(
  path: string,
  init: RequestInit = {},
): Promise<{ status: number; body: string; type: string }> {
  const response = await fetch(
    `${simulator.batchUrls.eu1}${path.replace(/\{(\w+)\}/, (_, name) => ids[name] ?? name)}`,
    {
      headers: { authorization: `Bearer ${simulator.apiKey}` },
      ...init,
    },
  );
  return {
    status: response.status,
    body: await response.text(),
    type: response.headers.get('content-type') ?? '',
  };
}

describe('the simulated jobs API', () => {
  it.each([
    ['/v2/jobs', 200, undefined],
    ['/v2/jobs/', 200, undefined],
    ['/v2/jobs?limit=0', 400, 'Bad Request'],
    ['/v2/jobs?limit=101', 400, 'Bad Request'],
    ['/v2/jobs?created_before=yesterday', 400, 'Bad Request'],
    ['/v2/jobs/{done}', 200, undefined],
    ['/jobs/{done}', 200, undefined],
    ['/v2/jobs/{running}', 200, undefined],
    ['/v2/jobs/{rejected}', 200, undefined],
    ['/v2/jobs/unknown', 404, 'Job not found'],
    ['/v2/jobs/{elsewhere}', 404, 'Job not found'],
    ['/v2/jobs/{deleted}', 404, 'Job not found'],
    ['/v2/jobs/{expired}', 410, 'Job Expired'],
    ['/v2/jobs/{done}/transcript', 200, undefined],
    ['/v2/jobs/{done}/transcript?format=txt', 200, undefined],
    ['/v2/jobs/{done}/transcript?format=srt', 200, undefined],
    ['/v2/jobs/{done}/transcript?format=pdf', 400, 'Bad Request'],
    ['/v2/jobs/{running}/transcript', 404, 'Transcription not ready'],
    ['/v2/jobs/{rejected}/transcript', 404, 'Job rejected'],
    ['/v2/jobs/{expired}/transcript', 410, 'Job Expired'],
    ['/v2/jobs/{done}/data', 200, undefined],
    ['/v2/jobs/{expired}/data', 410, 'Job Expired'],
    ['/v2/usage?since=2026-01-01', 200, undefined],
    ['/v2/elsewhere', 404, 'Not Found'],
  ])('answers GET %s with %d %s', async (path, status, error) => {
    const answer = await ask(path);
    expect(answer.status).toBe(status);
    if (error === undefined) return;
    expect(JSON.parse(answer.body)).toMatchObject({ code: status, error });
  });

  it.each([[{}], [{ authorization: 'Bearer wrong' }], [{ authorization: 'Basic x' }]])(
    'answers 401 to %j',
    async (headers) => {
      const answer = await ask('/v2/jobs', { headers });
      expect([answer.status, JSON.parse(answer.body).code]).toEqual([401, 401]);
    },
  );

  it('takes temporary keys until they expire', async () => {
    const key = await simulator.issueKey('batch', 60);
    const headers = { authorization: `Bearer ${key}` };
    expect((await ask('/v2/jobs', { headers })).status).toBe(200);
    now += 61_000;
    expect((await ask('/v2/jobs', { headers })).status).toBe(401);
  });

  it('wraps a record in job, with the fields that the service documents', async () => {
    const { job } = JSON.parse((await ask('/v2/jobs/{done}')).body);
    expect(job).toEqual({
      id: ids.done,
      status: 'done',
      created_at: '2026-03-01T12:00:00.000Z',
      data_name: expect.any(String),
      duration: expect.any(Number),
      config: { type: 'transcription' },
    });
  });

  it.each([
    ['no form', JSON.stringify({ type: 'transcription' }), 400, 'Bad Request'],
    ['no config', form({ data_file: 'x' }), 400, 'Malformed request'],
    ['no media', form({ config: '{"type":"transcription"}' }), 400, 'Missing data_file'],
    ['an invalid method', form({ config: notifying({ method: 'GET' }) }), 400, 'Malformed request'],
    [
      'contents it does not know',
      form({ config: notifying({ contents: ['pdf'] }) }),
      400,
      'Malformed request',
    ],
    ['an invalid address', form({ config: notifying({ url: 'nowhere' }) }), 400, 'Malformed request'],
    [
      'an invalid header',
      form({ config: notifying({ auth_headers: ['secret'] }) }),
      400,
      'Malformed request',
    ],
  ])('refuses a submission with %s', async (_what, body, status, error) => {
    const answer = await ask('/v2/jobs', { method: 'POST', body });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      status,
      expect.objectContaining({ code: status, error }),
    ]);
  });

  it('takes a submission with config and data_file', async () => {
    const body = form({ config: '{"type":"transcription"}', data_file: 'RIFF' });
    const answer = await ask('/v2/jobs/', { method: 'POST', body });
    expect(answer.status).toBe(201);
    const { id } = JSON.parse(answer.body);
    expect((await ask(`/v2/jobs/${id}/data`)).body).toBe('RIFF');
  });

  it('lists jobs created before a time, those at that very time left out', async () => {
    const at = now - 3600_000;
    const config = { type: 'transcription' };
    const older = simulator.submit({ config, createdAt: at - 1 });
    simulator.submit({ config, createdAt: at });
    await simulator.idle();
    const before = new Date(at).toISOString();
    const { jobs } = JSON.parse((await ask(`/v2/jobs?limit=1&created_before=${before}`)).body);
    expect(jobs.map(({ id }: { id: string }) => id)).toEqual([older.id]);
  });

  it('expires what is older than retention', async () => {
    const { id, notified } = simulator.submit({ config: { type: 'transcription' } });
    await notified;
    now += 7 * 24 * 3600 * 1000 + 1;
    expect((await ask(`/v2/jobs/${id}/transcript`)).status).toBe(410);
    now -= 7 * 24 * 3600 * 1000 + 1;
  });

  it('fails on order: another answer, or a download cut short', async () => {
    simulator.faults.add({ kind: 'answer', operation: 'record', status: 429, body: '<html>', times: 1 });
    expect(await ask('/v2/jobs/{done}')).toMatchObject({ status: 429, type: 'text/html', body: '<html>' });
    expect((await ask('/v2/jobs/{done}')).status).toBe(200);
    simulator.faults.add({ kind: 'cut-download', operation: 'media', times: 1 });
    await expect(ask('/v2/jobs/{done}/data')).rejects.toThrow();
    expect((await ask('/v2/jobs/{done}/data')).status).toBe(200);
  });
});

function form(fields: Record<string, string>): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (name === 'data_file') made.set(name, new Blob([value]), 'a.wav');
    else made.set(name, value);
  }
  return made;
}

function notifying(entry: Record<string, unknown>): string {
  const notification = { url: 'http://127.0.0.1/', ...entry };
  return JSON.stringify({ type: 'transcription', notification_config: [notification] });
}
