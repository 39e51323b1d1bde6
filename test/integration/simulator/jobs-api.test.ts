import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.js';
import { until } from '../../support/until.js';

let simulator: Simulator;
let now = Date.parse('2026-03-01T12:00:00Z');
const ids: Record<string, string> = {};

beforeAll(async () => {
  simulator = await createSimulator({
    regions: { eu1: 0, us1: 0 },
    seed: 'api',
    clock: { now: () => now, sleep: async () => {} },
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
): Promise<{ status: number; body: string; type: string; allow: string | null }> {
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
    allow: response.headers.get('allow'),
  };
}

/** The least that a client must submit. */
const CONFIG = '{"type":"transcription","transcription_config":{"language":"en"}}';

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
    // Rule: Hosts: a job exists only in its region
    // Rule: Jobs API: `/v2/jobs/` lists the key's jobs
    // Rule: Jobs API: record, also at `/jobs/{id}`
    // Rule: Jobs API: transcripts as `json-v2`, `txt` and `srt`
    // Rule: Jobs API: usage
    // Rule: Versions: jobs API below `/v2`
    // Rule: Contradictions: a record: with or without `/v2`
  ])('answers GET %s with %d %s', async (path, status, error) => {
    const answer = await ask(path);
    expect(answer.status).toBe(status);
    if (error === undefined) return;
    expect(JSON.parse(answer.body)).toMatchObject({ code: status, error });
  });

  it.each([
    ['PUT', '/v2/jobs', 'GET, POST'],
    ['PATCH', '/v2/jobs/{done}', 'GET, DELETE'],
    ['POST', '/v2/jobs/{done}/transcript', 'GET'],
    ['DELETE', '/v2/jobs/{done}/data', 'GET'],
    ['POST', '/v2/usage', 'GET'],
  ])('answers 405 to %s %s and names the methods', async (method, path, allow) => {
    const answer = await ask(path, { method });
    expect([answer.status, answer.allow, JSON.parse(answer.body)]).toEqual([
      405,
      allow,
      { code: 405, error: 'Method Not Allowed' },
    ]);
  });

  it('answers 400 to a path with a malformed escape, on every server', async () => {
    for (const url of [simulator.batchUrls.eu1, simulator.keysUrl]) {
      const response = await fetch(`${url}/v2/jobs/%E0%A4%A`);
      expect([response.status, await response.json()]).toEqual([
        400,
        { code: 400, error: 'Bad Request', detail: 'the path is not valid' },
      ]);
    }
  });

  // Rule: Jobs API: deletion
  it('does not delete a running job unless forced', async () => {
    const { id } = simulator.submit({ config: { type: 'transcription' } });
    await simulator.idle();
    simulator.setStatus(id, 'running');
    const refused = await ask(`/v2/jobs/${id}`, { method: 'DELETE' });
    expect([refused.status, JSON.parse(refused.body)]).toEqual([
      423,
      { code: 423, error: 'Resource Locked', detail: 'the job is running' },
    ]);
    const forced = await ask(`/v2/jobs/${id}?force=true`, { method: 'DELETE' });
    expect([forced.status, JSON.parse(forced.body).job.status]).toEqual([200, 'deleted']);
  });

  it.each(['error', 'fetch_error', 'trim_error'])(
    // Rule: Job record: `errors` of a job that failed
    // Rule: HTTP errors: a failed job has `errors`
    'says in errors why a job ended with %s',
    async (outcome) => {
      const { id } = simulator.submit({ config: { type: 'transcription' }, outcome });
      await simulator.idle();
      const { job } = JSON.parse((await ask(`/v2/jobs/${id}`)).body);
      expect(job).toMatchObject({
        status: 'rejected',
        errors: [{ message: expect.stringMatching(/^Failed to /), timestamp: new Date(now).toISOString() }],
      });
    },
  );

  it.each([[{}], [{ authorization: 'Bearer wrong' }], [{ authorization: 'Basic x' }]])(
    // Rule: Authentication: requests carry `Bearer` and key
    // Rule: Authentication: 401 without a valid key
    // Rule: HTTP errors: 401 without a valid key
    'answers 401 to %j',
    async (headers) => {
      const answer = await ask('/v2/jobs', { headers });
      expect([answer.status, JSON.parse(answer.body).code]).toEqual([401, 401]);
    },
  );

  // Rule: Temporary keys: keys live for `ttl`
  // Rule: Authentication: temporary keys in the same header
  it('takes temporary keys until they expire', async () => {
    const key = await simulator.issueKey('batch', 60);
    const headers = { authorization: `Bearer ${key}` };
    expect((await ask('/v2/jobs', { headers })).status).toBe(200);
    now += 61_000;
    expect((await ask('/v2/jobs', { headers })).status).toBe(401);
  });

  // Rule: Job record: one top-level field `job`
  // Rule: Job record: `id`, `status`, `created_at` (UTC, milliseconds), `data_name`, `duration`, `config`
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
    ['no configuration', form({ data_file: 'RIFF' }), 400, 'Malformed request'],
    [
      'no language',
      form({ config: '{"type":"transcription"}', data_file: 'RIFF' }),
      400,
      'Malformed request',
    ],
    [
      'an unknown type',
      form({ config: CONFIG.replace('transcription', 'telepathy'), data_file: 'RIFF' }),
      400,
      'Malformed request',
    ],
    ['no media', form({ config: CONFIG }), 400, 'Missing data_file'],
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
    [
      'four notification entries',
      form({
        config: JSON.stringify({
          ...JSON.parse(CONFIG),
          notification_config: Array(4).fill({ url: 'http://127.0.0.1/' }),
        }),
      }),
      400,
      'Malformed request',
    ],
    // Rule: Jobs API: submission, also by `fetch_data`
    // Rule: Notification configuration: at most 3 entries
    // Rule: Limits: at most 3 notification entries
    // Rule: Notification configuration: `url` is required, a web address
    // Rule: Notification configuration: `auth_headers`: complete header lines
    // Rule: Notification configuration: `contents`: `transcript`, `transcript.json-v2`, `transcript.txt`, `transcript.srt`, `data`,
    // `jobinfo`
  ])('refuses a submission with %s', async (_what, body, status, error) => {
    const answer = await ask('/v2/jobs', { method: 'POST', body });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      status,
      expect.objectContaining({ code: status, error }),
    ]);
  });

  // Rule: Jobs API: submission, also by `fetch_data`
  it('takes a submission with config and data_file', async () => {
    const body = form({ config: CONFIG, data_file: 'RIFF' });
    const answer = await ask('/v2/jobs/', { method: 'POST', body });
    expect(answer.status).toBe(201);
    const { id } = JSON.parse(answer.body);
    expect((await ask(`/v2/jobs/${id}/data`)).body).toBe('RIFF');
  });

  it('fails a job whose media cannot be fetched from this machine, and believes other addresses', async () => {
    const media = createServer((request, response) => {
      response.statusCode = request.url === '/a.wav' ? 200 : 404;
      response.end('RIFF');
    });
    await once(media.listen(0, '127.0.0.1'), 'listening');
    const here = `http://127.0.0.1:${(media.address() as AddressInfo).port}`;
    const statuses: unknown[] = [];
    const ended = async (url: string) => {
      const body = form({ config: JSON.stringify({ ...JSON.parse(CONFIG), fetch_data: { url } }) });
      const { id } = JSON.parse((await ask('/v2/jobs', { method: 'POST', body })).body);
      await until(() => simulator.job(id)?.status !== 'running');
      return [simulator.job(id)?.status, simulator.job(id)?.errors?.[0]?.message];
    };
    for (const url of [`${here}/a.wav`, `${here}/b.wav`, 'https://media.example/a.wav']) {
      statuses.push(await ended(url));
    }
    media.close();
    await once(media, 'close');
    statuses.push(await ended(`${here}/a.wav`));
    expect(statuses).toEqual([
      ['done', undefined],
      ['rejected', 'Failed to fetch the audio'],
      ['done', undefined],
      ['rejected', 'Failed to fetch the audio'],
    ]);
  });

  // Rule: Job record: `duration` of the media
  // Rule: Silences: the unit of `duration`
  it('takes an upload for 128 kbit/s', async () => {
    const body = form({ config: CONFIG });
    body.set('data_file', new Blob([new Uint8Array(44 + 16_000)]), 'a.mp3');
    const { id } = JSON.parse((await ask('/v2/jobs', { method: 'POST', body })).body);
    expect(simulator.job(id)?.duration).toBe(1);
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
  return JSON.stringify({ ...JSON.parse(CONFIG), notification_config: [notification] });
}
