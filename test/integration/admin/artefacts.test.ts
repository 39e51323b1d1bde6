import { hash } from 'node:crypto';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../../src/config/config.js';
import { createLedger } from '../../../src/ledger/write/ledger.js';
import type { Job } from '../../../src/operations/answers/jobs.js';
import type { ExpiringStore } from '../../../src/recovery/retention/expired-objects.js';
import { sweepRetention } from '../../../src/recovery/retention/sweep-retention.js';
import { createFileStore } from '../../../src/store/file/file-store.js';
import type { ObjectStore } from '../../../src/store/object-store.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { ledgerOf } from '../../support/ledger/ledger-of.js';
import { mergeLedger } from '../../support/ledger/merge-ledger.js';
import { type AdminApi, adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const TEXT = { 'content-type': 'text/plain' };

let service: RunningService;
let api: AdminApi;
const JSON_TYPE = { 'content-type': 'application/json' };

describe('a conflict', () => {
  const SECOND = `jobs/j1/conflicts/transcript.txt.${hash('sha256', 'second')}`;
  const FIRST = `jobs/j1/conflicts/transcript.txt.${hash('sha256', 'first')}`;

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

describe('what lies below the prefix of a source that was removed since', () => {
  const JSON_V2 = '{"format":"2.9","job":{"id":"both"},"results":[]}';
  const KEPT = 'token-of-the-kept-source-0123456789';
  const conflictOf = (job: string) => `old/jobs/${job}/conflicts/transcript.txt.${hash('sha256', 'second')}`;

  let before: RunningService;

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
      admin: {
        tokens: { kept: { token: KEPT, may: ['view', 'read', 'repair', 'erase'], sources: ['kept'] } },
      },
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
    expect(await cli('transcript', 'both', '--kind', 'json-v2')).toMatchObject({
      code: 0,
      stdout: JSON_V2,
    });
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

describe('what is left of an erased job', () => {
  /** In bodies, and in every name that a sender may choose. */
  const SECRET = 'Jane Roe, 1980-02-03';
  const TRANSCRIPT = (text: string) =>
    JSON.stringify({ format: '2.9', job: { id: 'e1' }, metadata: {}, results: [], text });
  beforeAll(async () => {
    service = await startService({
      sources: { default: {}, team: { keyPrefix: 'team/' } },
      ledger: { merge: false },
    });
    api = adminApi(service);
  });
  afterAll(() => service.stop());

  const send = (body: string, type: string, source = 'default') =>
    sendCallback(service, 'id=e1&status=success', body, { 'content-type': type }, source);

  function form(transcript: string, media: string): string {
    const part = (head: string, body: string) =>
      `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
    return [
      part(`name="transcript"; filename="${SECRET}.json"`, TRANSCRIPT(transcript)),
      part(`name="${SECRET}"; filename="${SECRET}.docx"\r\nContent-Type: a/b; name="${SECRET}"`, SECRET),
      part(`name="data"; filename="${SECRET}.wav"`, media),
      '--b--\r\n',
    ].join('');
  }

  /** Every file whose path or bytes hold the secret, as it is or percent-encoded. */
  async function filesWithSecret(): Promise<string[]> {
    const texts = [SECRET, encodeURIComponent(SECRET)];
    const found: string[] = [];
    for (const entry of await readdir(service.folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const bytes = entry.isFile() ? await readFile(path) : Buffer.alloc(0);
      if (texts.some((text) => path.includes(text) || bytes.includes(text))) found.push(path);
    }
    return found;
  }

  /** The lines of the merged ledger: its bytes are compressed. */
  async function mergedLines(): Promise<string> {
    const store = createFileStore({ directory: service.folder, partSize: 64 * 1024 });
    const tomorrow = Date.now() + 86_400_000;
    const { records, faults } = await mergeLedger({ store, clock: () => tomorrow, keepSegments: null });
    expect([records > 0, faults]).toEqual([true, []]);
    let text = '';
    for await (const { key } of store.list('ledger-hours/'))
      if (key.endsWith('.gz')) text += gunzipSync(await readFile(join(service.folder, key))).toString();
    return text;
  }

  it('holds no byte of its content and no name from it', async () => {
    const media = SECRET.repeat(10_000);
    const multipart = 'multipart/form-data; boundary=b';
    for (const source of ['default', 'team']) {
      expect((await send(form(SECRET, media), multipart, source)).json).toMatchObject({
        outcome: 'stored',
      });
      expect((await send(form(`${SECRET}!`, `${media}!`), multipart, source)).json).toMatchObject({
        outcome: 'conflict',
      });
      expect((await send(`{"${SECRET}`, `application/json; name="${SECRET}"`, source)).status).toBe(202);
      expect((await send(SECRET, `text/plain; name="${SECRET}"`, source)).status).toBe(200);
    }
    const released = await send(
      `--b\r\nX: 1\r\n\r\n${SECRET}\r\n--b--\r\n`,
      'multipart/form-data; boundary=c',
    );
    await api.post(`/quarantine/${released.json.deliveryId}/release`).send({});
    const files = [['file', SECRET]] as const;
    for (const [name, body] of files)
      await api.post('/jobs/e1/artefacts').attach(name, Buffer.from(body), { filename: `${SECRET}.txt` });
    // What processes that were killed have left: a temporary file, and metadata without an object.
    const store = createFileStore({ directory: service.folder, partSize: 1024 * 1024, fsync: false });
    const upload = await store.startUpload('team/jobs/e1/data', { contentType: 'a/b', metadata: {} });
    await upload.write(Buffer.from(SECRET));
    expect((await filesWithSecret()).length).toBeGreaterThan(20);

    const { body } = await api.delete('/jobs/e1').send({ reason: 'asked to be forgotten' });
    expect(body).toMatchObject({ complete: true, kept: null, erased: { uploads: 1 } });
    expect(await filesWithSecret()).toEqual([]);
    expect(await mergedLines()).not.toContain('Jane');
    expect(await filesWithSecret()).toEqual([]);
    await upload.abort();
  });

  it('stays that way: later callbacks are noted, an import is rejected', async () => {
    const late = [
      await send(form(SECRET, SECRET), 'multipart/form-data; boundary=b'),
      await send(form(SECRET, SECRET.repeat(10_000)), 'multipart/form-data; boundary=b', 'team'),
      await send(`{"${SECRET}`, 'application/json'),
    ];
    for (const { status, json } of late)
      expect([status, json.outcome, json.items]).toEqual([200, 'noted', []]);
    expect(await filesWithSecret()).toEqual([]);
    const lines = (await ledgerOf(service.folder)).filter(({ outcome }) => outcome === 'noted');
    expect(lines.map(({ reason, items }) => [reason, items])).toEqual(late.map(() => ['erased', []]));
    const refused = await api.post('/jobs/e1/artefacts').attach('file', Buffer.from(SECRET), 'a.txt');
    expect(refused.body).toMatchObject({
      code: 'conflict',
      detail: expect.stringMatching(/erased on 2.*another job id/),
    });
    expect((await api.get('/jobs/e1')).body.erasure).toMatchObject({ complete: true, keptUntil: null });
  });
});

describe('what expired', () => {
  const DAY = 86_400_000;
  const AGE = 40 * DAY;
  const RETENTION = { retention: { data: '30d', transcript: '2y' } };
  const TRANSCRIPT = JSON.stringify({ format: '2.9', job: { id: 'half' }, metadata: {}, results: [] });
  let store: ObjectStore;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  /** Stores an artefact as a callback of 40 days ago has left it, with its line. */
  async function storeOld(jobId: string, name: string, kind: string, content: string): Promise<void> {
    const receivedAt = new Date(Date.now() - AGE).toISOString();
    const key = `jobs/${jobId}/${name}`;
    const metadata = { 'job-id': jobId, source: 'default', 'received-at': receivedAt, kind };
    await store.create(key, Buffer.from(content), { contentType: 'text/plain', metadata });
    await utimes(join(folder.path, key), new Date(receivedAt), new Date(receivedAt));
    const ledger = createLedger({ store, replica: 'past', clock: () => Date.parse(receivedAt) });
    const item = { kind, key, size: content.length, sha256: '', outcome: 'created' };
    await ledger.append(ledgerLine({ jobId, source: 'default', receivedAt, items: [item as never] }));
    await ledger.close();
  }

  const job = async (jobId: string): Promise<Job> => (await api.get(`/jobs/${jobId}`)).body as Job;

  beforeAll(async () => {
    folder = await temporaryFolder();
    const url = `file:${folder.path}`;
    store = createFileStore({ directory: folder.path, partSize: 64 * 1024, fsync: false });
    await store.begin();
    await storeOld('half', 'transcript.json', 'transcript.json-v2', TRANSCRIPT);
    for (const name of ['half', 'gone', 'late']) await storeOld(name, 'data', 'data', 'recording');
    await storeOld('lost', 'transcript.json', 'transcript.json-v2', TRANSCRIPT);
    await store.delete('jobs/lost/transcript.json');
    // As far as the lines of these jobs: with the default an old line is known by the artefacts of its job alone.
    const ledger = { index: { days: 2 * (AGE / DAY) } };
    service = await startService({ ...RETENTION, ledger, store: { url }, sources: { default: {} } });
    api = adminApi(service);
    const { retention: periods } = parseConfig({ ...RETENTION, sources: { default: {} } });
    const ledgerOfSweep = createLedger({ store, replica: 'sweeper' });
    const parts = { store: store as ExpiringStore, ledger: ledgerOfSweep, periods, clock: Date.now };
    expect(await sweepRetention(parts)).toEqual({
      complete: true,
      kinds: { data: { objects: 3, bytes: 27 } },
      faults: [],
    });
    await ledgerOfSweep.close();
  });
  afterAll(async () => {
    await service.stop();
    await folder.remove();
  });

  it('is told apart from what is missing on the page of the job', async () => {
    const { expired, artefacts, timeline } = await job('half');
    expect(artefacts).toMatchObject([{ kind: 'transcript.json-v2' }]);
    expect(expired).toMatchObject([{ kind: 'data', objects: 1, bytes: 9 }]);
    expect(timeline.at(-1)).toMatchObject({ origin: 'retention', outcome: 'expired' });
    expect((await api.get('/jobs/half/artefacts/data')).status).toBe(404);
    expect((await api.get('/jobs/half/artefacts/transcript.json')).status).toBe(200);
    expect((await job('lost')).expired).toEqual([]);
  });

  it('is in the lists of deliveries only when it is asked for', async () => {
    const outcomes = async (query: string) =>
      ((await api.get(`/deliveries${query}`)).body.deliveries as { outcome: string }[]).map(
        ({ outcome }) => outcome,
      );
    expect(await outcomes('')).not.toContain('expired');
    expect(await outcomes('?outcome=expired')).toEqual(['expired', 'expired', 'expired']);
    expect(await outcomes('?origin=retention')).toEqual(['expired', 'expired', 'expired']);
  });

  it('is stored like something new when it comes again, and the page says both', async () => {
    const { status, json } = await sendCallback(service, 'id=late&status=success', 'recording', {
      'content-type': 'audio/wav',
    });
    expect([status, json.outcome]).toEqual([200, 'stored']);
    expect(await job('late')).toMatchObject({ artefacts: [{ kind: 'data' }], expired: [{ kind: 'data' }] });
    expect((await api.get('/jobs/late/artefacts/data')).status).toBe(200);
  });

  it('leaves a job that can still be erased, and stays erased then', async () => {
    const erased = await api.delete('/jobs/gone');
    expect(erased.body).toMatchObject({ complete: true, erased: { artefacts: 0 } });
    expect(await job('gone')).toMatchObject({ artefacts: [], expired: [], erasure: { complete: true } });
    const { json } = await sendCallback(service, 'id=gone&status=success', TRANSCRIPT, JSON_TYPE);
    expect(json.outcome).toBe('noted');
  });
});
