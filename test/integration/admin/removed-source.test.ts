import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';

const TEXT = { 'content-type': 'text/plain' };
const JSON_TYPE = { 'content-type': 'application/json' };
const JSON_V2 = '{"format":"2.9","job":{"id":"both"},"results":[]}';
const KEPT = 'token-of-the-kept-source-0123456789';
const conflictOf = (job: string) => `old/jobs/${job}/conflicts/transcript.txt.${hash('sha256', 'second')}`;

let before: RunningService;
let service: RunningService;

/** Below `old/`: jobs of a source that is then removed, of one that then moves to another prefix, and one that both have. */
beforeAll(async () => {
  before = await startService({ sources: { gone: { keyPrefix: 'old/' }, kept: { keyPrefix: 'old/' } } });
  for (const source of ['gone', 'kept'])
    for (const text of ['first', 'second'])
      await sendCallback(before, `id=of-${source}&status=success`, text, TEXT, source);
  await sendCallback(before, 'id=both&status=success', 'of the removed one', TEXT, 'gone');
  await sendCallback(before, 'id=both&status=success', JSON_V2, JSON_TYPE, 'kept');
  service = await startService({
    store: { url: `file:${before.folder}` },
    sources: { kept: { keyPrefix: 'new/' } },
    admin: { tokens: { kept: { token: KEPT, may: ['view', 'read', 'repair', 'erase'], sources: ['kept'] } } },
  });
});
afterAll(async () => {
  await service.stop();
  await before.stop();
});

const keysOf = ({ body }: { readonly body: { readonly artefacts: readonly { readonly key: string }[] } }) =>
  body.artefacts.map(({ key }) => key);
const cli = (...args: string[]) =>
  runCommand(args, {
    NODE_CONFIG: JSON.stringify({
      store: { url: `file:${before.folder}`, partSize: '64KiB' },
      sources: { kept: { keyPrefix: 'new/' } },
    }),
  });

describe('what lies below the prefix of a source that was removed since', () => {
  it.each(['of-gone', 'of-kept'])('is shown, downloaded and chosen over the API: %s', async (job) => {
    const api = adminApi(service);
    expect(keysOf(await api.get(`/jobs/${job}`))).toEqual(
      expect.arrayContaining([`old/jobs/${job}/transcript.txt`, conflictOf(job)]),
    );
    expect((await api.get(`/jobs/${job}`)).body.lost).toEqual([]);
    for (const path of ['transcript.txt', `old/jobs/${job}/transcript.txt`])
      expect(await api.get(`/jobs/${job}/artefacts/${path}`)).toMatchObject({ status: 200, text: 'first' });
    const choice = { key: conflictOf(job), reason: 'the second run is right' };
    expect(await api.post(`/jobs/${job}/choose`).send(choice)).toMatchObject({ status: 200 });
    expect((await api.get(`/jobs/${job}/artefacts/transcript.txt`)).text).toBe('second');
  });

  it('is shown and printed by commands, and chosen', async () => {
    const { stdout } = await cli('job', 'both', '--json');
    const { artefacts, state } = JSON.parse(stdout);
    expect(keysOf({ body: { artefacts } })).toContain('old/jobs/both/transcript.txt');
    expect(state.word).toBe('Stored');
    expect(await cli('transcript', 'both')).toMatchObject({ code: 0, stdout: 'of the removed one' });
    expect(await cli('transcript', 'both', '--kind', 'json-v2')).toMatchObject({ code: 0, stdout: JSON_V2 });
    const key = 'old/jobs/both/transcript.txt';
    expect(await cli('choose', 'both', key, '--reason', 'right')).toMatchObject({ code: 0 });
    expect(await cli('transcript', 'none')).toMatchObject({ code: 1, stdout: '' });
  });

  it('is hidden from a token of other sources, also where its own lines name the prefix', async () => {
    const api = adminApi(service, KEPT);
    expect(await api.get('/jobs/of-gone')).toMatchObject({ status: 404 });
    expect(await api.get('/jobs/of-kept')).toMatchObject({ status: 200 });
    expect(keysOf(await api.get('/jobs/both'))).toEqual(['old/jobs/both/transcript.json']);
    const artefact = (path: string) => api.get(`/jobs/${path.split('/')[2]}/artefacts/${path}`);
    expect(await artefact('old/jobs/both/transcript.json')).toMatchObject({ status: 200, text: JSON_V2 });
    for (const key of ['old/jobs/both/transcript.txt', 'old/jobs/of-gone/transcript.txt']) {
      expect(await artefact(key)).toMatchObject({ status: 404 });
      const choice = { key, reason: 'mine' };
      const chosen = await api.post(`/jobs/${key.split('/')[2]}/choose`).send(choice);
      expect(chosen).toMatchObject({ status: 404 });
    }
    expect(await api.delete('/jobs/both')).toMatchObject({ status: 403 });
  });
});
