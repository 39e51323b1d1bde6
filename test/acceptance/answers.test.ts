import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import supertest from 'supertest';
import { ledgerOf, visibleKeys } from '../support/ledger/ledger-of.js';
import { adminApi } from '../support/processes/admin-api.js';
import { type RunningService, startService } from '../support/processes/running-service.js';
import { until } from '../support/until.js';

describe('the answer table', () => {
  /*
   * The answer table of docs/answers.md, row by row, over HTTP. What needs a socket of its own (slow bodies,
   * Expect, drains) is in connection.test.ts; a store that fails is in store-conditions.test.ts.
   */

  const TOKEN = 'correct-horse-battery-staple';
  const TRANSCRIPT = JSON.stringify({ format: '2.9', job: { id: 'j' }, metadata: {}, results: [] });

  let service: RunningService;

  beforeAll(async () => {
    service = await startService({
      sources: {
        default: { maxBytes: '100KiB' },
        guarded: { credentials: { main: { headers: [`X-Callback-Token: ${TOKEN}`] } } },
        other: { credentials: { main: { headers: ['X-Other-Source: of-another-source-entirely'] } } },
        elsewhere: { allow: ['eu1'] },
        watched: { allow: ['eu1'], allowMode: 'report' },
        mixed: { keyPrefix: 'team/' },
      },
      limits: { quarantineBytes: '20KiB' },
    });
  });

  afterAll(() => service.stop());

  interface Call {
    path?: string;
    query?: string;
    method?: 'post' | 'put' | 'delete';
    headers?: Record<string, string>;
    body?: string | Buffer;
  }

  function call({
    path = '/callbacks/default',
    query = 'id=j&status=success',
    method = 'post',
    headers = {},
    body,
  }: Call) {
    const request = supertest(service.publicUrl)[method](query === '' ? path : `${path}?${query}`);
    // Bytes as given: superagent would turn a Buffer with a JSON type into JSON.
    return request
      .redirects(0)
      .set(headers)
      .serialize((content) => content)
      .send(body);
  }

  const GUARDED = { 'x-callback-token': TOKEN };
  /** 20 MiB of zeros in 20 KB. */
  const BOMB = gzipSync(Buffer.alloc(20 * 1024 * 1024));
  const JSON_TYPE = { 'content-type': 'application/json' };

  describe('the response to a callback', () => {
    it.each<[situation: string, call: Call, status: number, outcome: string]>([
      [
        'a transcript',
        { query: 'id=t1&status=success', headers: JSON_TYPE, body: TRANSCRIPT },
        200,
        'stored',
      ],
      [
        'the same again',
        { query: 'id=t1&status=success', headers: JSON_TYPE, body: TRANSCRIPT },
        200,
        'duplicate',
      ],
      [
        'another for the same job',
        { query: 'id=t1&status=success', headers: JSON_TYPE, body: `${TRANSCRIPT} ` },
        200,
        'conflict',
      ],
      [
        'that other one again',
        { query: 'id=t1&status=success', headers: JSON_TYPE, body: `${TRANSCRIPT} ` },
        200,
        'duplicate',
      ],
      ['no body', { query: 'id=t2&status=success' }, 200, 'noted'],
      [
        'PUT',
        { query: 'id=t3&status=success', method: 'put', headers: JSON_TYPE, body: TRANSCRIPT },
        200,
        'stored',
      ],
      [
        'a trailing slash',
        { path: '/callbacks/default/', query: 'id=t4&status=success', headers: JSON_TYPE, body: TRANSCRIPT },
        200,
        'stored',
      ],
      ['an error status without a body', { query: 'id=t5&status=fetch_error' }, 200, 'noted'],
      [
        'an unknown status',
        { query: 'id=t6&status=brand_new', headers: JSON_TYPE, body: TRANSCRIPT },
        200,
        'stored',
      ],
      [
        "the submitter's own parameters",
        { query: 'tenant=a&tenant=b&id=t7&x[y]=1&status=success' },
        200,
        'noted',
      ],
      [
        'the right credential',
        { path: '/callbacks/guarded', headers: { 'x-callback-token': TOKEN } },
        200,
        'noted',
      ],
      ['an address that only would be refused', { path: '/callbacks/watched' }, 200, 'noted'],
      ['broken JSON', { headers: JSON_TYPE, body: '{"format"' }, 202, 'quarantined'],
      [
        'a broken form',
        { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: '--x\r\nContent-Disp' },
        202,
        'quarantined',
      ],
      ['an unknown encoding', { headers: { 'content-encoding': 'snappy' }, body: 'x' }, 202, 'quarantined'],
    ])('%s: %#', async (_, request, status, outcome) => {
      const answer = await call(request);
      expect(answer.status).toBe(status);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(answer.body).toMatchObject({
        outcome,
        deliveryId: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      });
    });

    it.each<[situation: string, call: Call, status: number, code: string]>([
      ['no id', { query: 'status=success' }, 400, 'query-invalid'],
      ['no query at all', { query: '' }, 400, 'query-invalid'],
      ['a repeated status', { query: 'id=j&status=success&status=error' }, 400, 'query-invalid'],
      [
        'broken and too large for quarantine',
        { headers: JSON_TYPE, body: `{"a": ${'1'.repeat(30_000)}` },
        400,
        'body-malformed',
      ],
      ['no credential', { path: '/callbacks/guarded' }, 401, 'credential-invalid'],
      [
        'a wrong credential',
        { path: '/callbacks/guarded', headers: { 'x-callback-token': `${TOKEN}x` } },
        401,
        'credential-invalid',
      ],
      ['an address from elsewhere', { path: '/callbacks/elsewhere' }, 403, 'address-refused'],
      ['an unknown source', { path: '/callbacks/nobody' }, 404, 'source-unknown'],
      ['an inherited name', { path: '/callbacks/__proto__' }, 404, 'source-unknown'],
      ['an unknown path', { path: '/elsewhere' }, 404, 'not-found'],
      ['a path below a source', { path: '/callbacks/default/more' }, 404, 'not-found'],
      ['a path that is not well-formed', { path: '/callbacks/%ff' }, 404, 'not-found'],
      ['another method', { method: 'delete' }, 405, 'method-not-allowed'],
      // Rule: Delivery: other answers are retried, also 5xx and 413
      // Rule: HTTP errors: 413 is retried
      ['a body larger than the limit', { body: Buffer.alloc(100 * 1024 + 1) }, 413, 'body-too-large'],
      [
        'a body that grows beyond the limit',
        { headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(100 * 1024 + 1)) },
        413,
        'body-too-large',
      ],
      [
        'a bomb',
        { path: '/callbacks/guarded', headers: { ...GUARDED, 'content-encoding': 'gzip' }, body: BOMB },
        400,
        'encoding-refused',
      ],
      [
        'two encodings',
        { headers: { 'content-encoding': 'gzip, gzip' }, body: gzipSync(BOMB) },
        400,
        'encoding-refused',
      ],
    ])('%s: %#', async (_, request, status, code) => {
      const answer = await call(request);
      expect(answer.status).toBe(status);
      expect(answer.headers['content-type']).toBe('application/problem+json');
      expect(answer.body).toMatchObject({
        status,
        code,
        title: expect.any(String),
        detail: expect.any(String),
      });
    });

    it('names the allowed methods', async () => {
      await supertest(service.publicUrl).get('/callbacks/default').expect(405).expect('Allow', 'POST, PUT');
    });

    it('names the scheme of a missing credential', async () => {
      const answer = await call({ path: '/callbacks/guarded' });
      expect(answer.headers['www-authenticate']).toBe('Callback-Header realm="callbacks"');
    });

    // Rule: Delivery: a redirect is not 2xx
    it('never redirects', async () => {
      for (const path of ['//callbacks/default', '/callbacks', '/callbacks/', '/callbacks/default//', '/']) {
        expect((await call({ path })).status).toBe(404);
      }
    });

    it('reports each item with kind, key, size, hash and outcome', async () => {
      const { body: answer } = await call({
        path: '/callbacks/mixed',
        query: 'id=k1&status=success',
        headers: JSON_TYPE,
        body: TRANSCRIPT,
      });
      expect(answer.items).toEqual([
        {
          kind: 'transcript.json-v2',
          key: 'team/jobs/k1/transcript.json',
          size: TRANSCRIPT.length,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          outcome: 'created',
        },
      ]);
    });

    it('writes a ledger line for accepted deliveries and authenticated refusals, none for unauthenticated ones', async () => {
      const before = (await ledgerOf(service.folder)).length;
      await call({ query: 'id=led1&status=success', headers: JSON_TYPE, body: TRANSCRIPT });
      await call({ query: 'id=led1' });
      await call({ path: '/callbacks/guarded' });
      await call({ path: '/callbacks/elsewhere' });
      await call({ path: '/callbacks/watched', query: 'id=led2&status=success' });
      const lines = (await ledgerOf(service.folder)).slice(before);
      expect(lines.map(({ jobId, outcome, reason }) => ({ jobId, outcome, reason }))).toEqual([
        { jobId: 'led1', outcome: 'stored', reason: null },
        { jobId: null, outcome: 'refused', reason: 'query-invalid' },
        { jobId: 'led2', outcome: 'noted', reason: null },
      ]);
      expect(lines[2]).toMatchObject({ wouldRefuse: 'address-refused', clientIp: '127.0.0.1' });
      expect(lines[0]).toMatchObject({
        v: 1,
        origin: 'callback',
        source: 'default',
        method: 'POST',
        credential: null,
        bytes: TRANSCRIPT.length,
        shape: { contentType: 'application/json', framing: 'sized' },
      });
    });

    it('records the wire format in the ledger whatever the outcome, and no text that the sender may choose', async () => {
      const before = (await ledgerOf(service.folder)).length;
      const named = 'application/json; charset=Jane; name="Jane Roe"';
      const gzip = { 'content-type': named, 'content-encoding': 'gzip' };
      const form = { 'content-type': 'multipart/form-data; boundary=b' };
      const part = '--b\r\nContent-Disposition: form-data; name="data"\r\n\r\nxyz\r\n--b--\r\n';
      await call({ query: 'id=shape1&status=success', headers: gzip, body: gzipSync(TRANSCRIPT) });
      await call({ query: 'id=shape2&status=success', headers: gzip, body: 'no gzip' });
      await call({ query: 'id=shape3', headers: gzip, body: 'no gzip' });
      await call({ query: 'id=shape4&status=success', headers: form, body: part });
      const lines = (await ledgerOf(service.folder)).slice(before);
      const encoded = {
        contentType: 'application/json',
        framing: 'sized',
        contentEncoding: 'gzip',
      };
      expect(lines.map(({ outcome, shape }) => ({ outcome, shape }))).toEqual([
        { outcome: 'stored', shape: encoded },
        { outcome: 'quarantined', shape: encoded },
        { outcome: 'refused', shape: encoded },
        {
          outcome: 'stored',
          shape: {
            contentType: 'multipart/form-data',
            framing: 'sized',
            parts: [{ name: 'data', bytes: 3 }],
          },
        },
      ]);
    });

    it('keeps an undecodable body byte for byte, and of its request nothing that could be secret', async () => {
      const { body: answer } = await call({
        path: '/callbacks/guarded',
        query: 'id=q1&contents=transcript&signature=secret-of-the-query&status=success&secret-name',
        headers: {
          ...JSON_TYPE,
          'x-callback-token': TOKEN,
          authorization: 'Bearer something-else',
          'x-other-source': 'of-another-source-entirely',
          'x-goog-iap-jwt-assertion': 'secret-of-a-proxy',
          'user-agent': 'a-sender/1.0',
        },
        body: '{"broken"',
      });
      const keys = await visibleKeys(service.folder, `quarantine/${answer.deliveryId}/`);
      expect(keys.map((key) => key.split('/').at(-1))).toEqual(['body', 'request.json']);
      expect(await readFile(`${service.folder}/${keys[0]}`, 'utf8')).toBe('{"broken"');
      const request = await readFile(`${service.folder}/${keys[1]}`, 'utf8');
      expect(JSON.parse(request)).toMatchObject({
        jobId: 'q1',
        source: 'guarded',
        reason: 'json-invalid',
        bytes: 9,
        query: 'id=q1&status=success&contents=transcript',
        headers: { 'content-type': 'application/json', 'content-length': '9', 'user-agent': 'a-sender/1.0' },
      });
      expect(request).not.toMatch(/secret-|signature|x-goog/);
      expect(request).not.toContain(TOKEN);
      expect(request).not.toContain('something-else');
      expect(request).not.toContain('of-another-source');
    });
  });
});

describe('names that a sender chooses', () => {
  /** The year alone would be found in a hash or a time by chance. */
  const NAMES = /Jane|Schmidt|born|1980-?02/i;

  /* All at the same time, each with a receiver of its own: an erasure takes two seconds. */

  const services: RunningService[] = [];
  afterAll(async () => {
    for (const service of services) await service.stop();
  });

  async function start(): Promise<RunningService> {
    const service = await startService();
    services.push(service);
    return service;
  }

  function unlessMissing(error: NodeJS.ErrnoException): string {
    if (error.code === 'ENOENT') return '';
    throw error;
  }

  /** Path and content of every file in the store, dot-folders included. */
  async function everythingKept(folder: string): Promise<string> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    // The service writes its own objects meanwhile, whose temporary files vanish.
    const texts = await Promise.all(files.map((file) => readFile(file, 'latin1').catch(unlessMissing)));
    return [...files, ...texts].join('\n');
  }

  async function eraseCompletely(service: RunningService, ...jobIds: string[]): Promise<void> {
    const api = adminApi(service);
    const answers = await Promise.all(
      jobIds.map((id) => api.delete(`/jobs/${id}`).send({ reason: 'asked to' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(jobIds.map(() => 200));
    await until(async () => !NAMES.test(await everythingKept(service.folder)));
  }

  it.concurrent('keeps nothing of a name in the types and codings that a ledger line records', async () => {
    const service = await start();
    const type = 'application/x-Patient.Jane-Roe_1980';
    const send = (id: string) =>
      supertest(service.publicUrl).post(`/callbacks/default?id=${id}&status=success`);
    await send('names3').set('content-type', type).send('said').expect(200);
    const part = [
      '--b',
      'Content-Disposition: form-data; name="data"; filename="Jane"',
      `Content-Type: ${type}+json; charset=Jane`,
      'Content-Transfer-Encoding: Jane-Roe',
      '',
      'said',
      '--b--',
    ];
    await send('names4')
      .set('content-type', 'multipart/form-data; boundary=b')
      .send(part.join('\r\n'))
      .expect(200);
    await send('names5')
      .set({
        'content-type': 'multipart/x-Jane-Roe',
        'content-encoding': 'Jane-Roe',
        'user-agent': 'Jane Roe',
      })
      .send('said')
      .expect(202);
    expect(await everythingKept(service.folder)).toMatch(NAMES);
    const lines = await ledgerOf(service.folder);
    const shapes = lines.filter(({ jobId }) => /^names[345]$/.test(jobId ?? '')).map(({ shape }) => shape);
    expect(shapes).toEqual([
      { contentType: 'other', framing: 'sized' },
      {
        contentType: 'multipart/form-data',
        framing: 'sized',
        parts: [{ name: 'data', contentType: 'other', transferEncoding: 'other', bytes: 4 }],
      },
      { contentType: 'other', contentEncoding: 'other', framing: 'sized' },
    ]);
    await eraseCompletely(service, 'names3', 'names4', 'names5');
    expect(service.log.filter((line) => NAMES.test(JSON.stringify(line)))).toEqual([]);
  });

  it.concurrent('keeps names of parts and files beside the attachment alone, so that they end with it', async () => {
    const service = await start();
    await supertest(service.publicUrl)
      .post('/callbacks/default?id=names1&status=success')
      .attach('Jane Roe', Buffer.from('\0'), { filename: 'born 1980-02-03.docx', contentType: 'x/y' })
      .expect(200);
    const [key = ''] = await visibleKeys(service.folder, 'jobs/names1/');
    expect(key).toMatch(/^jobs\/names1\/attachments\/[0-9a-f]{16}\.docx$/);
    expect(JSON.stringify(await ledgerOf(service.folder))).not.toMatch(NAMES);
    const kept = await everythingKept(service.folder);
    for (const name of ['Jane%20Roe', 'born%201980-02-03.docx']) expect(kept).toContain(name);

    await eraseCompletely(service, 'names1');
    expect(service.log.filter((line) => NAMES.test(JSON.stringify(line)))).toEqual([]);
  });
});
