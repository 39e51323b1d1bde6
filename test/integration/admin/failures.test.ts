import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type AdminApi, adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const transcript = (content: string) => JSON.stringify({ format: '2.9', metadata: {}, results: [], content });

/** It answers nothing. */
const SPEECH = { apiKey: 'a'.repeat(32), regions: { eu1: { batchUrl: 'http://127.0.0.1:9/' } } };

let service: RunningService;
let api: AdminApi;

beforeEach(async () => {
  service = await startService({ sources: { default: { maxBytes: '1KiB' } }, speech: SPEECH });
  api = adminApi(service);
});
afterEach(() => service.stop());

const send = (job: string, body?: string) =>
  sendCallback(service, `id=${job}&status=success`, body, JSON_TYPE);
const failing = async () => {
  const { body } = await api.get('/failures');
  return { jobs: body.failures.map(({ jobId }: { jobId: string }) => jobId), counts: body.counts };
};

/** The jobs of every page of two; each page counts all. */
async function pagesOf(query: string, counts: object): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await api.get(`/failures?${query}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
    expect(body.counts).toEqual(counts);
    pages.push(body.failures.map(({ jobId }: { jobId: string }) => jobId));
    cursor = body.nextCursor;
  }
  return pages;
}

describe('failing jobs', () => {
  it('are those not settled since, ordered by the time at which the service deletes them', async () => {
    expect(await failing()).toEqual({ jobs: [], counts: {} });
    await send('fine', transcript('a'));
    await send('large', transcript('a'.repeat(2000)));
    await send('cured', transcript('a'.repeat(2000)));
    await send('cured', transcript('a'));
    await send('again', transcript('a'));
    await send('again', transcript('a'.repeat(2000)));
    expect(await failing()).toEqual({ jobs: ['large', 'again'], counts: { refused: 2 } });
    expect((await api.get('/failures?limit=1')).body).toMatchObject({
      failures: [{ jobId: 'large', retentionEndsAt: expect.stringMatching(/Z$/) }],
      nextCursor: expect.any(String),
      counts: { refused: 2 },
    });
    expect((await api.get('/failures?limit=0')).status).toBe(400);
  });

  it('come in pages and by filters', async () => {
    for (const id of ['a', 'b', 'c']) await send(id, transcript('a'.repeat(2000)));
    await send('d', transcript('a'));
    await send('d', transcript('b'));
    expect(await pagesOf('outcome=refused', { refused: 3 })).toEqual([['a', 'b'], ['c']]);
    expect((await api.get('/failures?source=default')).body.counts).toEqual({ refused: 3, conflict: 1 });
    expect(
      (await api.get(`/failures?since=${new Date(Date.now() + 60_000).toISOString()}`)).body.counts,
    ).toEqual({});
    expect((await api.get('/failures?cursor=nonsense')).status).toBe(400);
  });

  it('are settled by an acknowledgement with a reason, which stays findable, until they fail again', async () => {
    await send('two', transcript('a'));
    await send('two', transcript('b'));
    await send('big', transcript('a'.repeat(2000)));
    const acknowledge = (id: string, json: object) => api.post(`/jobs/${id}/acknowledge`).send(json);
    expect((await acknowledge('two', {})).status).toBe(400);
    expect((await acknowledge('nobody', { reason: 'x' })).status).toBe(404);
    for (const id of ['two', 'big']) {
      const { status, body } = await acknowledge(id, { reason: 'compared, the first is right' });
      expect([status, body.outcome, body.actor]).toEqual([200, 'acknowledged', 'tester']);
    }
    expect(await failing()).toEqual({ jobs: [], counts: {} });
    const { body } = await api.get('/deliveries?outcome=acknowledged');
    expect(body.deliveries).toMatchObject([
      { jobId: 'big', reason: 'compared, the first is right' },
      { jobId: 'two' },
    ]);
    await send('two', transcript('c'));
    expect(await failing()).toEqual({ jobs: ['two'], counts: { conflict: 1 } });
  });

  it('reject a filter by an outcome that is not a failure', async () => {
    await send('one', transcript('a'));
    const { status, body } = await api.get('/failures?outcome=stored');
    expect([status, body.detail]).toEqual([400, expect.stringContaining('failures are failed')]);
  });

  it('stay in conflict until they are erased or acknowledged', async () => {
    await send('two', transcript('a'));
    await send('two', transcript('b'));
    await send('two', transcript('a'));
    await send('two', transcript('a'.repeat(2000)));
    expect(await failing()).toEqual({ jobs: ['two'], counts: { conflict: 1 } });
    await api.delete('/jobs/two');
    expect(await failing()).toEqual({ jobs: [], counts: {} });
  });
});

describe('failing jobs by cause', () => {
  const large = transcript('a'.repeat(2000));
  const cli = (...args: string[]) =>
    runCommand(args, {
      NODE_CONFIG: JSON.stringify({
        store: { url: `file:${service.folder}`, partSize: '64KiB' },
        sources: { default: { maxBytes: '1KiB' } },
        speech: SPEECH,
      }),
    });

  beforeEach(async () => {
    for (const id of ['a', 'b', 'c']) await send(id, large);
    await send('d', transcript('a'));
    await send('d', transcript('b'));
  });

  it('are counted with what to do, and their rows lie behind them in pages', async () => {
    const { body } = await api.get('/failures');
    expect(body.causes).toEqual([
      expect.objectContaining({
        ...{ code: 'body-too-large', source: 'default', outcome: 'refused', count: 3 },
        remedy: expect.stringMatching(/^Refetch the job, .* raise maxBytes/),
      }),
      expect.objectContaining({ code: 'conflict', count: 1 }),
    ]);
    expect(await pagesOf('cause=body-too-large', { refused: 3 })).toEqual([['a', 'b'], ['c']]);
  });

  it('are selected by a replay', async () => {
    const selector = { kind: 'refetch', cause: 'body-too-large', source: 'default' };
    const preview = await api.post('/replays').send({ selector, dryRun: true });
    expect(preview.body).toMatchObject({ count: 3, jobs: ['a', 'b', 'c'] });
    const none = await api.post('/replays').send({ selector: { ...selector, cause: 'x' }, dryRun: true });
    expect(none.body).toMatchObject({ count: 0 });
    for (const more of [{ jobs: ['a'] }, { kind: 'release' }])
      expect(
        (await api.post('/replays').send({ selector: { ...selector, ...more }, dryRun: true })).status,
      ).toBe(400);
  });

  it('are acknowledged together, after a preview', async () => {
    const order = { cause: 'body-too-large', source: 'default' };
    const preview = await api.post('/failures/acknowledge').send({ ...order, dryRun: true });
    expect(preview.body).toEqual({ count: 3, acknowledged: 0, jobs: ['a', 'b', 'c'] });
    expect((await api.post('/failures/acknowledge').send(order)).status).toBe(400);
    expect((await failing()).counts).toEqual({ refused: 3, conflict: 1 });
    const { body } = await api.post('/failures/acknowledge').send({ ...order, reason: 'test calls' });
    expect(body).toMatchObject({ count: 3, acknowledged: 3 });
    expect((await failing()).counts).toEqual({ conflict: 1 });
  });

  it('come first on the command line, with the commands for all of them', async () => {
    const listed = await cli('failures');
    expect(listed.stdout).toMatch(
      /^3 jobs of default, refused: the body was larger than maxBytes of the source\. First /m,
    );
    const commands = [...listed.stdout.matchAll(/^ {4}transcript-receiver (.*)$/gm)].map(
      ([, line = '']) => line,
    );
    expect(commands).toEqual([
      'replay refetch --cause body-too-large --source default',
      'acknowledge --cause body-too-large --source default --reason <words>',
      'job <job>',
      'acknowledge --cause conflict --source default --reason <words>',
    ]);
    const preview = await cli('replay', 'refetch', '--cause', 'body-too-large', '--dry-run', '--json');
    expect(JSON.parse(preview.stdout)).toMatchObject({ count: 3 });
    const dry = await cli('acknowledge', '--cause', 'body-too-large', '--dry-run');
    expect(dry.stdout).toMatch(/^3 jobs would be acknowledged\n {2}a\n/);
    const done = await cli('acknowledge', '--cause', 'body-too-large', '--reason', 'test calls');
    expect(done).toMatchObject({ code: 0, stdout: '3 jobs acknowledged: test calls\n' });
    expect((await cli('acknowledge', '--reason', 'x')).code).toBe(2);
    expect((await cli('acknowledge', 'a', '--cause', 'x', '--reason', 'x')).code).toBe(2);
    expect((await failing()).counts).toEqual({ conflict: 1 });
  });
});
