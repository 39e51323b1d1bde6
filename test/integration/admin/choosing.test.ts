import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type AdminApi, adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';

const TEXT = { 'content-type': 'text/plain' };
const SECOND = `jobs/j1/conflicts/transcript.txt.${hash('sha256', 'second')}`;
const FIRST = `jobs/j1/conflicts/transcript.txt.${hash('sha256', 'first')}`;

let service: RunningService;
let api: AdminApi;

beforeEach(async () => {
  service = await startService({ sources: { default: {} } });
  api = adminApi(service);
  for (const text of ['first', 'second']) await sendCallback(service, 'id=j1&status=success', text, TEXT);
});
afterEach(() => service.stop());

const choose = (key: string, reason = 'the second run is right') =>
  api.post('/jobs/j1/choose').send({ key, reason });
const text = async (key: string) => (await api.get(`/jobs/j1/artefacts/${key}`)).text;
const cli = (...args: string[]) =>
  runCommand(args, {
    NODE_CONFIG: JSON.stringify({ store: { url: `file:${service.folder}`, partSize: '64KiB' } }),
  });

async function verify() {
  const { code, stdout } = await cli('verify', '--since', '1h', '--deep', '--json');
  const { outcomes, replaced } = JSON.parse(stdout);
  return { code, outcomes, replaced };
}

describe('a conflict', () => {
  it('is settled by choosing a version, which counts from then on: page, failures, verify', async () => {
    expect((await api.get('/failures')).body.counts).toEqual({ conflict: 1 });
    const { status, body } = await choose(SECOND);
    expect(status).toBe(200);
    expect(body).toMatchObject({ outcome: 'chosen', actor: 'tester', reason: 'the second run is right' });
    expect(await text('transcript.txt')).toBe('second');
    expect(await text(FIRST)).toBe('first');
    expect((await api.get('/failures')).body.counts).toEqual({});
    const job = (await api.get('/jobs/j1')).body;
    expect(job.failure).toBeNull();
    expect(job.artefacts).toHaveLength(3);
    expect(await verify()).toMatchObject({
      code: 0,
      outcomes: { intact: 3, replaced: 1, damaged: 0, missing: 0 },
      replaced: [{ key: 'jobs/j1/transcript.txt', choice: { actor: 'tester', reason: body.reason } }],
    });
    expect((await cli('verify')).stdout).toMatch(
      /^replaced jobs\/j1\/transcript\.txt .* by tester: the second run is right$/m,
    );
  });

  it('is chosen on the command line by the command that the job proposes', async () => {
    const before = await cli('job', 'j1');
    expect(before.code).toBe(2);
    expect(before.stdout).toContain(`transcript-receiver choose j1 ${SECOND} --reason <words>`);
    const chosen = await cli('choose', 'j1', SECOND, '--reason', 'it is right');
    expect(chosen).toMatchObject({ code: 0, stderr: '' });
    expect(chosen.stdout).toMatch(
      /^j1: command-line chose \w{12} as jobs\/j1\/transcript\.txt: it is right\n {2}the/,
    );
    const after = await cli('job', 'j1');
    expect(after).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Job j1: Chosen\n/) });
    expect((await cli('choose', 'j1', 'jobs/j1/none', '--reason', 'x')).code).toBe(2);
    expect((await cli('choose', 'j1', SECOND)).code).toBe(2);
  });

  it('is one command for what arrived together, after which nothing is left to do', async () => {
    for (const words of ['first', 'second']) {
      const form = new FormData();
      form.append('transcript.txt', words);
      form.append('transcript.srt', `1\n00:00:00,000 --> 00:00:01,000\n${words}\n`);
      await sendCallback(service, 'id=j2&status=success', form);
    }
    const { state } = JSON.parse((await cli('job', 'j2', '--json')).stdout);
    const { command } = state.steps[0];
    expect(command.match(/conflicts\/transcript\.(txt|srt)\./g)).toHaveLength(2);
    const words = command
      .split(' ')
      .slice(1)
      .map((word: string) => (word === '<words>' ? 'ok' : word));
    expect(await cli(...words)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/chose[\s\S]+chose/),
    });
    expect(await cli('job', 'j2')).toMatchObject({ code: 0, stdout: expect.stringMatching(/: Chosen\n/) });
    expect((await cli('job', 'j2')).stdout).not.toContain('What to do next');
  });

  it('is damage for verify when the chosen bytes are not in their place', async () => {
    await choose(SECOND);
    await writeFile(join(service.folder, 'jobs/j1/transcript.txt'), 'broken');
    // The copy among the conflicts is a link to the same file.
    expect(await verify()).toMatchObject({ code: 3, outcomes: { damaged: 2, replaced: 1 } });
  });

  it('needs a reason and a key of the job', async () => {
    expect((await api.post('/jobs/j1/choose').send({ key: SECOND })).status).toBe(400);
    expect((await choose('jobs/j2/transcript.txt')).status).toBe(404);
    await api.delete('/jobs/j1').send({});
    expect((await choose(SECOND)).status).toBe(409);
  });
});
