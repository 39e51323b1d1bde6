import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ledgerPartition } from '../../../src/ledger/hours.js';
import { createFileStore } from '../../../src/store/file/file-store.js';
import { type RawClient, rawClient } from '../../support/http/raw-http.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { ledgerOf, visibleKeys } from '../../support/ledger/ledger-of.js';
import { type AdminApi, adminApi, sendCallback, sendForm } from '../../support/processes/admin-api.js';
import { sendMendable } from '../../support/processes/mendable-callback.js';
import {
  type RunningService,
  type Settings,
  startService,
  useOwnServices,
} from '../../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../../support/recovery/lost-jobs.js';
import { until } from '../../support/until.js';

let service: RunningService;
let api: AdminApi;

describe('repairing', () => {
  const JSON_TYPE = { 'content-type': 'application/json' };
  const TRANSCRIPT = JSON.stringify({ format: '2.9', job: { id: 'i1' }, metadata: {}, results: [] });

  let lost: LostJobs;

  beforeAll(async () => {
    lost = await lostJobs();
    service = await startService({
      sources: {
        default: { maxBytes: '300KiB', context: ['case'] },
        team: { keyPrefix: 'team/', maxBytes: '1KiB', context: ['call'] },
      },
      ...lost.settings,
    });
    api = adminApi(service);
  });

  afterAll(async () => {
    await service.stop();
    await lost.simulator.close();
  });

  const post = (path: string, json?: object) => api.post(path).send(json);

  async function linesOf(jobId: string) {
    return (await ledgerOf(service.folder)).filter((line) => line.jobId === jobId);
  }

  describe('refetch', () => {
    it('fetches missing results, records actor and reason, and is idempotent', async () => {
      const id = await lost.lose();
      expect((await api.get(`/jobs/${id}`)).body).toMatchObject({ artefacts: [], timeline: [] });
      const { status, body } = await post(`/jobs/${id}/refetch`, { reason: 'a customer asked' });
      expect(status).toBe(200);
      expect(body).toMatchObject({ jobId: id, region: 'eu1', outcome: 'recovered' });
      expect((await post(`/jobs/${id}/refetch`)).body).toMatchObject({ outcome: 'matched' });
      const story = (await api.get(`/jobs/${id}`)).body;
      expect(story.artefacts).toEqual([expect.objectContaining({ origin: 'replay' })]);
      expect(story.timeline).toContainEqual(
        expect.objectContaining({ outcome: 'replayed', actor: 'tester', reason: 'a customer asked' }),
      );
      expect(story.timeline).toContainEqual(
        expect.objectContaining({ outcome: 'recovered', actor: 'tester' }),
      );
    });

    it('settles what failed before it when the job is complete, and nothing that fails later', async () => {
      const id = await lost.lose();
      await post(`/jobs/${id}/refetch`);
      const reject = () => sendCallback(service, `id=${id}&status=success`, Buffer.alloc(400 * 1024));
      const failing = async (): Promise<unknown[]> =>
        (await api.get('/failures')).body.failures.filter(({ jobId }: { jobId: string }) => jobId === id);
      expect((await reject()).status).toBe(413);
      expect(await failing()).toEqual([expect.objectContaining({ outcome: 'refused' })]);
      expect((await post(`/jobs/${id}/refetch`)).body).toMatchObject({ outcome: 'matched' });
      expect(await failing()).toEqual([]);
      await reject();
      expect(await failing()).toEqual([expect.objectContaining({ outcome: 'refused' })]);
      const selector = { kind: 'refetch', jobs: [id] };
      const replay = await post('/replays', { selector });
      expect(replay.status).toBe(202);
      await until(async () => (await failing()).length === 0);
    });

    it("shows the service's record without its secrets", async () => {
      const id = await lost.lose();
      const { body } = await api.get(`/jobs/${id}`);
      expect(body.service).toMatchObject({ region: 'eu1', record: { id, status: 'done' } });
      expect(body.service.record.config.notification_config[0].auth_headers).toEqual(['X-Token: [redacted]']);
      expect(JSON.stringify(body)).not.toMatch(/header-secret|presigned-secret/);
    });

    it('rejects unknown jobs, regions, sources and parameters', async () => {
      expect((await post('/jobs/unknown-job/refetch')).status).toBe(404);
      const id = await lost.lose();
      expect((await post(`/jobs/${id}/refetch`, { region: 'mars1' })).status).toBe(400);
      expect((await post(`/jobs/${id}/refetch`, { source: 'nobody' })).status).toBe(400);
      expect((await post(`/jobs/${id}/refetch`, { colour: 'blue' })).status).toBe(400);
      lost.simulator.faults.add({ kind: 'answer', operation: 'record', status: 500, times: 2 });
      expect((await post(`/jobs/${id}/refetch`)).body).toMatchObject({
        status: 502,
        code: 'service-unreachable',
      });
    });
  });

  describe('import', () => {
    const send = (id: string, form: FormData) => sendForm(api.post(`/jobs/${id}/artefacts`), form);
    function form(parts: Record<string, string | Blob>, fileName = 'from disk.bin'): FormData {
      const made = new FormData();
      for (const [name, value] of Object.entries(parts)) {
        if (typeof value === 'string') made.append(name, value);
        else made.append(name, value, fileName);
      }
      return made;
    }

    it('keeps files byte for byte, answers like a callback, and knows what it has', async () => {
      const media = randomBytes(200_000);
      const files = () =>
        form({
          reason: 'from the backup',
          status: 'success',
          transcript: new Blob([TRANSCRIPT]),
          data: new Blob([media]),
        });
      const { status, body } = await send('i1', files());
      expect(status).toBe(200);
      expect(body).toMatchObject({ jobId: 'i1', status: 'success', outcome: 'stored' });
      expect(body.items.map(({ kind, outcome }: Record<string, string>) => [kind, outcome])).toEqual([
        ['transcript.json-v2', 'created'],
        ['data', 'created'],
      ]);
      expect((await readFile(join(service.folder, 'jobs/i1/data'))).equals(media)).toBe(true);
      expect((await send('i1', files())).body).toMatchObject({ outcome: 'duplicate' });
      const [line] = await linesOf('i1');
      expect(line).toMatchObject({
        origin: 'import',
        outcome: 'stored',
        actor: 'tester',
        reason: 'from the backup',
        bytes: media.length + TRANSCRIPT.length,
      });
    });

    it('uses kind and source from the form when given', async () => {
      const srt = new Blob(['not even srt']);
      await send('i2', form({ source: 'team', kind: 'transcript.srt', context: 'call=7%2Fa', file: srt }));
      await send(
        'i2',
        form({ source: 'team', kind: 'attachment', file: new Blob([TRANSCRIPT]) }, 'a"b\r\nc.json'),
      );
      expect(await visibleKeys(service.folder, 'team/jobs/i2/')).toEqual([
        expect.stringMatching(/^team\/jobs\/i2\/attachments\/[0-9a-f]{16}\.json$/),
        'team/jobs/i2/transcript.srt',
      ]);
      const { body } = await api.get('/jobs/i2');
      expect(body.artefacts).toHaveLength(2);
      expect((await linesOf('i2')).map(({ context }) => context)).toEqual([{ call: '7/a' }, undefined]);
    });

    it('never lets a hostile file become a page', async () => {
      const html = new Blob(['<script>alert(1)</script>'], { type: 'text/html' });
      await send('i3', form({ kind: 'attachment', file: html }, '"><script>\r\nX: y.html'));
      const { body } = await api.get('/jobs/i3');
      const download = await api.get(`/jobs/i3/artefacts/${body.artefacts[0].key}`);
      expect(download.headers['content-type']).toBe('application/octet-stream');
      expect(download.headers['content-disposition']).toMatch(
        /^attachment; filename="[^"\r\n<>]*" *;|^attachment; /,
      );
      expect(download.headers.x).toBeUndefined();
    });

    it.each<[string, () => FormData, number, string]>([
      ['no file', () => form({ reason: 'x' }), 400, 'request-invalid'],
      ['a transcript as text', () => form({ transcript: TRANSCRIPT }), 400, 'request-invalid'],
      ['an unknown kind', () => form({ kind: 'video', file: new Blob(['x']) }), 400, 'request-invalid'],
      ['an unknown source', () => form({ source: 'nobody', file: new Blob(['x']) }), 400, 'request-invalid'],
      [
        'a source that comes late',
        () => form({ file: new Blob([randomBytes(250_000)]), source: 'team' }),
        400,
        'request-invalid',
      ],
      [
        'a context that is not admitted',
        () => form({ context: 'call=1', file: new Blob(['x']) }),
        400,
        'request-invalid',
      ],
      [
        'a malformed context',
        () => form({ source: 'team', context: 'call=%00', file: new Blob(['x']) }),
        400,
        'request-invalid',
      ],
      [
        'a context that comes late',
        () => form({ file: new Blob([randomBytes(250_000)]), context: 'case=1' }),
        400,
        'request-invalid',
      ],
      ['a field that nests', () => form({ 'a[b][c]': 'x', file: new Blob(['x']) }), 400, 'request-invalid'],
      ['an invalid transcript', () => form({ transcript: new Blob(['{"a"']) }), 400, 'body-malformed'],
      [
        "more than the source's limit",
        () => form({ source: 'team', kind: 'data', file: new Blob([randomBytes(2000)]) }),
        413,
        'body-too-large',
      ],
      [
        'more than any limit',
        () => form({ kind: 'data', file: new Blob([randomBytes(310_000)]) }),
        413,
        'body-too-large',
      ],
      [
        'a body declared far too large',
        () => form({ kind: 'data', file: new Blob([randomBytes(700_000)]) }),
        413,
        'body-too-large',
      ],
    ])('refuses %s, and keeps nothing', async (_, made, status, code) => {
      const { body } = await send('i4', made());
      expect(body).toMatchObject({ status, code });
      expect(await visibleKeys(service.folder, 'jobs/i4/')).toEqual([]);
      expect((await api.get('/health')).body.budget).toMatchObject({ used: 0, waiters: 0 });
    });

    it.each([
      ['cut off', '--b\r\nContent-Disposition: form-data; name="data"; filename="x"\r\n\r\nabc'],
      ['no form at all', 'nonsense'],
      [
        'partly a file without a name',
        '--b\r\nContent-Disposition: form-data; name="data"; filename="a"\r\n\r\nabc\r\n' +
          '--b\r\nContent-Disposition: form-data; name="data"\r\nContent-Type: application/octet-stream\r\n\r\nabc\r\n--b--\r\n',
      ],
    ])('refuses a form that is %s', async (_, form) => {
      const headers = { 'content-type': 'multipart/form-data; boundary=b' };
      const { body } = await api.post('/jobs/i5/artefacts').set(headers).send(form);
      expect(body).toMatchObject({ status: 400, code: 'request-invalid' });
      expect(await visibleKeys(service.folder, 'jobs/i5/')).toEqual([]);
    });

    it('accepts only forms, for valid ids', async () => {
      expect((await post('/jobs/i6/artefacts', {})).body).toMatchObject({ status: 400 });
      expect((await send('not%20an%20id', form({ data: new Blob(['x']) }))).status).toBe(404);
    });
  });

  describe('release', () => {
    const startOwn = useOwnServices();

    it('decodes after the program was mended, marks the body, and repeats its answer', async () => {
      const first = await startOwn({ sources: { default: { context: ['call'] } } });
      const two = new FormData();
      two.append('transcript', new Blob([TRANSCRIPT]), 'a.json');
      two.append('data', new Blob(['sound']), 'a.wav');
      const {
        deliveryId: id,
        status,
        mend,
      } = await sendMendable(first, 'id=r1&status=success&secret=1&call=a%26b', two);
      expect(status).toBe(202);
      const still = await adminApi(first).post(`/quarantine/${id}/release`);
      expect(still.body).toMatchObject({
        status: 409,
        code: 'conflict',
        detail: expect.stringMatching(/boundary/),
      });
      expect((await adminApi(first).get('/quarantine')).body.quarantine).toHaveLength(1);

      await mend();
      // The name is no longer admitted: the body keeps what it came with.
      const second = await startOwn({ store: { url: `file:${first.folder}` }, sources: { default: {} } });
      const fixed = adminApi(second);
      expect((await fixed.get(`/quarantine/${id}`)).body.decodes).toEqual({
        ok: true,
        items: ['transcript.json-v2', 'data'],
      });
      const release = () => fixed.post(`/quarantine/${id}/release`).send({ reason: 'decoder mended' });
      const released = await release();
      expect(released.body).toMatchObject({ jobId: 'r1', status: 'success', outcome: 'stored' });
      expect(await readFile(join(first.folder, 'jobs/r1/transcript.json'), 'utf8')).toBe(TRANSCRIPT);
      expect((await release()).body).toEqual(released.body);
      expect((await fixed.get('/quarantine')).body.quarantine).toEqual([]);
      expect((await fixed.get('/quarantine?state=released')).body.quarantine).toEqual([
        expect.objectContaining({ deliveryId: id, release: expect.objectContaining({ actor: 'tester' }) }),
      ]);
      const lines = (await ledgerOf(first.folder)).filter(({ outcome }) => outcome === 'released');
      expect(lines).toEqual([
        expect.objectContaining({ jobId: 'r1', origin: 'replay', actor: 'tester', reason: 'decoder mended' }),
      ]);
      expect(lines[0]?.context).toEqual({ call: 'a&b' });
      const stored = createFileStore({ directory: first.folder, partSize: 64 * 1024 });
      const { metadata } = (await stored.head('jobs/r1/data')) ?? {};
      await stored.close();
      expect(metadata?.['context-call']).toBe('a&b');
    });

    it('responds 404 for an unknown id', async () => {
      expect((await post('/quarantine/01ARZ3NDEKTSV4RRFFQ69G5FAV/release')).status).toBe(404);
    });
  });

  describe('erase', () => {
    it('leaves nothing of a job but the fact', async () => {
      for (const source of ['default', 'team']) {
        await sendCallback(service, 'id=e1&status=success', TRANSCRIPT, JSON_TYPE, source);
        await sendCallback(service, 'id=e1&status=success', `${TRANSCRIPT} `, JSON_TYPE, source);
        await sendCallback(service, 'id=e1&status=success', '{"broken', JSON_TYPE, source);
      }
      await sendCallback(service, 'id=e12&status=success', TRANSCRIPT, JSON_TYPE);
      const kept = await sendCallback(service, 'id=e12&status=success', '{"other', JSON_TYPE);
      const { status, body } = await api.delete('/jobs/e1').send({ reason: 'asked to be forgotten' });
      expect(status).toBe(200);
      expect(body).toMatchObject({ jobId: 'e1', erased: { artefacts: 2, conflicts: 2, quarantined: 2 } });
      const keys = await visibleKeys(service.folder);
      expect(keys.filter((key) => key.includes('/e1/'))).toEqual([]);
      expect(keys.filter((key) => key.startsWith('quarantine/'))).toEqual([
        `quarantine/${kept.json.deliveryId}/body`,
        `quarantine/${kept.json.deliveryId}/request.json`,
      ]);
      expect(keys).toContain('jobs/e12/transcript.json');
      const known = /^(team\/)?jobs\/|^(ledger|quarantine|replays|reports\/reconcile)\//;
      expect(keys.filter((key) => !known.test(key))).toEqual([]);
      const lines = (await linesOf('e1')).filter(({ outcome }) => outcome === 'erased');
      const reason = expect.stringMatching(/^asked to be forgotten/);
      expect(lines).toEqual([
        expect.objectContaining({ source: 'default', actor: 'tester', reason, deliveryId: body.deliveryId }),
        expect.objectContaining({ source: 'team', actor: 'tester', reason }),
      ]);
      expect((await api.get('/jobs/e1')).body.artefacts).toEqual([]);
      const again = await api.delete('/jobs/e1?reason=again');
      expect(again.body).toMatchObject({ erased: { artefacts: 0, conflicts: 0, quarantined: 0, bytes: 0 } });
    });

    it('responds 404 for unknown jobs', async () => {
      expect((await api.delete('/jobs/never-heard')).status).toBe(404);
      expect((await api.delete('/jobs/a%20b')).status).toBe(404);
    });
  });
});

describe('imports beyond the memory, and an unavailable store', () => {
  beforeAll(async () => {
    service = await startService({ sources: { default: { maxBytes: '20MiB' } } });
    api = adminApi(service);
  });

  afterAll(() => service.stop());

  const HEAD = '--b\r\nContent-Disposition: form-data; name="data"; filename="a.wav"\r\n\r\n';

  function upload(id: string) {
    const outgoing = request(`${service.adminUrl}/admin/api/jobs/${id}/artefacts`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.adminToken}`,
        'content-type': 'multipart/form-data; boundary=b',
      },
    });
    outgoing.on('error', () => {});
    return outgoing;
  }

  describe('an import', () => {
    it('streams more than the memory budget, byte for byte', async () => {
      const media = randomBytes(5 * 1024 * 1024);
      const form = new FormData();
      form.append('data', new Blob([media]), 'a.wav');
      const { status, body } = await sendForm(api.post('/jobs/large/artefacts'), form);
      expect(status).toBe(200);
      expect(body.items).toEqual([expect.objectContaining({ kind: 'data', size: media.length })]);
      const whole = await api.get('/jobs/large/artefacts/data');
      expect(media.equals(whole.body)).toBe(true);
      const tail = await api.get('/jobs/large/artefacts/data').set({ range: 'bytes=-100000' });
      expect(media.subarray(-100_000).equals(tail.body)).toBe(true);
      expect((await api.get('/jobs/large')).body.artefacts[0].sha256).toBe(body.items[0].sha256);
    });

    it('leaves nothing in the store when its sender disconnects', async () => {
      const outgoing = upload('gone');
      outgoing.write(HEAD);
      outgoing.write(randomBytes(300_000));
      await until(async () => (await api.get('/health')).body.budget.used > 0);
      outgoing.destroy();
      await until(async () => (await api.get('/health')).body.budget.used === 0);
      expect(await visibleKeys(service.folder, 'jobs/gone/')).toEqual([]);
    });
  });

  describe('an unavailable store', () => {
    it('is reported as 503, and health still responds', async () => {
      await sendCallback(service, 'id=s1&status=success', 'x', { 'content-type': 'text/plain' });
      expect((await api.get('/jobs/s1')).status).toBe(200);
      const aside = `${service.folder}-aside`;
      await rename(service.folder, aside);
      await writeFile(service.folder, 'no folder any more');
      try {
        const form = new FormData();
        form.append('data', new Blob(['x']), 'a.wav');
        const answer = await sendForm(api.post('/jobs/s2/artefacts'), form);
        expect([answer.status, answer.body.code]).toEqual([503, 'store-unavailable']);
        expect(answer.headers['retry-after']).toBe('5');
        expect((await api.get('/health')).status).toBe(200);
      } finally {
        await rm(service.folder);
        await rename(aside, service.folder);
      }
      expect((await api.get('/jobs/s1')).body.artefacts).toHaveLength(1);
    });
  });

  describe('ledger lines of a newer version', () => {
    it('are reported by the verdict', async () => {
      const receivedAt = new Date().toISOString();
      const folder = `${service.folder}/${ledgerPartition(receivedAt)}`;
      await mkdir(folder, { recursive: true });
      await writeFile(
        `${folder}newer~00000001.ndjson`,
        `${JSON.stringify({ ...ledgerLine({ receivedAt }), v: 2 })}\n`,
      );

      const issues = async () => (await api.get('/health')).body.verdict.issues as { code: string }[];
      await until(async () => (await issues()).some(({ code }) => code === 'ledger-lines-unreadable'));
    });
  });
});

describe('an import that stalls', () => {
  let clients: RawClient[] = [];

  afterEach(async () => {
    for (const client of clients) client.close();
    clients = [];
    await service.stop();
  });

  async function start(settings: Settings): Promise<void> {
    service = await startService(settings);
  }

  /** Begins an import and sends a little of its file. */
  async function begin(job: string): Promise<RawClient> {
    const client = await rawClient(service.adminUrl);
    clients.push(client);
    const form = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nsome of it';
    const head = [
      `POST /admin/api/jobs/${job}/artefacts HTTP/1.1`,
      `Host: ${new URL(service.adminUrl).host}`,
      `Authorization: Bearer ${service.adminToken}`,
      'Content-Type: multipart/form-data; boundary=b',
      'Content-Length: 100000',
    ];
    await client.send(`${head.join('\r\n')}\r\n\r\n${form}`);
    return client;
  }

  async function refusalOf(client: RawClient): Promise<[number, string]> {
    const { status, body } = await client.answer();
    return [status, (JSON.parse(body) as { code: string }).code];
  }

  it('times out after the idle time-out of a callback', async () => {
    await start({ limits: { idleTimeout: '300ms' } });
    expect(await refusalOf(await begin('stalled1'))).toEqual([408, 'body-too-slow']);
  });

  it('counts towards the limit of sixteen; a further import is rejected with 503', async () => {
    await start({});
    const stalled = await Promise.all(Array.from({ length: 17 }, (_, n) => begin(`stalled${n}`)));
    const refused = await Promise.race(stalled.map(refusalOf));
    expect(refused).toEqual([503, 'overloaded']);
    stalled[0]?.close();
    const answer = await fetch(`${service.publicUrl}/callbacks/default?id=beside&status=success`, {
      method: 'POST',
      body: Buffer.alloc(100_000),
    });
    expect(answer.status).toBe(200);
  });
});
