import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { JobDocument, TranscriptFormat } from '../../../src/domain/kinds.js';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.js';
import { createSpeechClients, type SpeechClients, type SpeechOptions } from '../../../src/speech/speech.js';
import type { JobConfig } from '../../../src/speech/wire.js';
import { manualClock } from '../../support/manual-clock.js';
import { watchedAgent } from '../../support/watched-agent.js';

describe('jobs client', () => {
  const CONFIG: JobConfig = { type: 'transcription', transcription_config: { language: 'de' } };

  let simulator: Simulator;
  let clients: SpeechClients;

  function connect(options: Partial<SpeechOptions> = {}): SpeechClients {
    const regions = Object.fromEntries(
      Object.entries(simulator.batchUrls).map(([region, batchUrl]) => [region, { batchUrl }]),
    );
    return createSpeechClients({
      apiKey: simulator.apiKey,
      keysUrl: simulator.keysUrl,
      regions,
      clock: manualClock(),
      ...options,
    });
  }

  beforeEach(async () => {
    simulator = await createSimulator({ regions: { eu1: 0, us1: 0 }, timeScale: 0.001, seed: 'jobs' });
    clients = connect();
  });

  afterEach(async () => {
    await clients.close();
    await simulator.close();
  });

  async function done(region = 'eu1', options = {}): Promise<string> {
    const { id, notified } = simulator.submit({ region, config: CONFIG, ...options });
    await notified;
    return id;
  }

  async function listed(client = clients, region = 'eu1', options = {}): Promise<string[]> {
    const ids: string[] = [];
    for await (const page of client.jobs(region).list(options)) ids.push(...page.jobs.map(({ id }) => id));
    return ids;
  }

  async function received(
    id: string,
    document: JobDocument,
  ): Promise<{ bytes: Buffer; size: number | null }> {
    return clients
      .jobs('eu1')
      .receive(id, document, async ({ body, size }) => ({ bytes: await buffer(body), size }));
  }

  describe('the job list', () => {
    // Rule: Jobs API: `/v2/jobs/` lists the key's jobs
    // Rule: Job record: `id`, `status`, `created_at` (UTC, milliseconds), `data_name`, `duration`, `config`
    it('comes whole, newest first, over pages whose borders fall into one millisecond', async () => {
      const start = Date.now() - 60_000;
      for (let index = 0; index < 330; index += 1) {
        simulator.submit({ config: CONFIG, createdAt: start + Math.floor(index / 6) });
      }
      await simulator.idle();
      const expected = simulator.jobs().map(({ id }) => id);
      expect(await listed()).toEqual([...expected].reverse());
    });

    it('ends at the window and leaves deleted jobs out unless asked', async () => {
      const now = Date.now();
      const old = await done('eu1', { createdAt: now - 5_000 });
      const recent = await done('eu1', { createdAt: now - 1_000 });
      const deleted = await done('eu1', { createdAt: now - 500 });
      simulator.setStatus(deleted, 'deleted');
      expect(await listed(clients, 'eu1', { since: new Date(now - 2_000) })).toEqual([recent]);
      expect(await listed(clients, 'eu1', { includeDeleted: true })).toEqual([deleted, recent, old]);
    });

    it('is empty where there are no jobs', async () => {
      expect(await listed()).toEqual([]);
    });
  });

  describe('a job', () => {
    // Rule: Jobs API: record, also at `/jobs/{id}`
    // Rule: Job record: one top-level field `job`
    // Rule: Job record: `errors`: `message`, `timestamp` per failed callback
    // Rule: Versions: jobs API below `/v2`
    it('has a record with the failed attempts to notify', async () => {
      const { id, notified } = simulator.submit({
        config: { ...CONFIG, notification_config: [{ url: 'http://127.0.0.1:1/' }] },
      });
      await notified;
      const job = await clients.jobs('eu1').record(id);
      expect(job.status).toBe('done');
      expect(job.config.notification_config?.[0]?.url).toBe('http://127.0.0.1:1/');
      expect(job.errors?.at(-1)?.message).toBe('Sending notification failed');
    });

    it.each<[TranscriptFormat, 'transcript.json-v2' | 'transcript.txt' | 'transcript.srt']>([
      ['json-v2', 'transcript.json-v2'],
      ['txt', 'transcript.txt'],
      ['srt', 'transcript.srt'],
      // Rule: Jobs API: transcripts as `json-v2`, `txt` and `srt`
      // Rule: Silences: paths for transcript, media, submission, deletion, usage
    ])('has a transcript as %s, byte by byte', async (format, item) => {
      const id = await done();
      const { bytes, size } = await received(id, format);
      expect(bytes.equals(await simulator.expected(id)[item].bytes())).toBe(true);
      expect(size).toBe(bytes.length);
    });

    it('has media, as a stream', async () => {
      const id = await done('eu1', { mediaBytes: 3_000_001 });
      const { bytes, size } = await received(id, 'media');
      expect(size).toBe(3_000_001);
      expect(bytes.equals(await simulator.expected(id).data.bytes())).toBe(true);
    });

    // Rule: Hosts: a job exists only in its region
    it('is unknown to every region but its own', async () => {
      const id = await done('us1');
      await expect(clients.jobs('eu1').record(id)).rejects.toMatchObject({ kind: 'not-found', status: 404 });
      expect((await clients.jobs('us1').record(id)).id).toBe(id);
    });

    it('says not-found while running, gone when expired, and why in the words of the service', async () => {
      const id = await done();
      simulator.setStatus(id, 'running');
      await expect(received(id, 'json-v2')).rejects.toMatchObject({
        kind: 'not-found',
        said: 'Transcription not ready',
      });
      simulator.setStatus(id, 'expired');
      await expect(received(id, 'json-v2')).rejects.toMatchObject({
        kind: 'gone',
        status: 410,
        said: 'Job Expired',
      });
    });

    it('with an invalid id is rejected before anything is sent', async () => {
      const { dispatcher, paths } = watchedAgent();
      const watched = connect({ dispatcher });
      await expect(watched.jobs('eu1').record('../usage')).rejects.toMatchObject({ kind: 'invalid-request' });
      expect(paths).toEqual([]);
    });
  });

  describe('a key made with client_ref', () => {
    // Rule: Authentication: a key with `client_ref` sees only its own jobs
    // Rule: Jobs API: usage
    // Rule: Jobs API: usage: 403 with `client_ref`
    // Rule: HTTP errors: 403 for usage with `client_ref`
    it('sees only jobs of that reference, and no usage', async () => {
      const other = await done();
      const bound = connect({ auth: 'temporaryKey', clientRef: 'user-7' });
      const own = await done('eu1', { clientRef: 'user-7' });
      expect(await listed(bound)).toEqual([own]);
      await expect(bound.jobs('eu1').record(other)).rejects.toMatchObject({ kind: 'not-found' });
      await expect(bound.jobs('eu1').usage()).rejects.toMatchObject({ kind: 'forbidden', status: 403 });
      await bound.close();
      expect((await listed()).sort()).toEqual([own, other].sort());
      expect((await clients.jobs('eu1').usage()).summary).toEqual([
        expect.objectContaining({ mode: 'batch', count: 2 }),
      ]);
    });
  });

  describe('a wrong key', () => {
    // Rule: Authentication: 401 without a valid key
    // Rule: Authentication: keys stay secret
    // Rule: HTTP errors: 401 without a valid key
    it('is said to be unauthorised by the jobs API and never shown', async () => {
      const wrong = connect({ apiKey: 'not-the-right-key' });
      const error = await wrong
        .jobs('eu1')
        .record('abc')
        .catch((reason: unknown) => reason);
      await wrong.close();
      expect(error).toMatchObject({ kind: 'unauthorised', status: 401 });
      expect(String(error)).not.toContain('not-the-right-key');
    });
  });
});

describe('the job list', () => {
  /** A jobs API that knows its list under one spelling of the path only. */
  async function servingOnly(path: string, unknown = '{"code":404,"error":"path not found"}') {
    const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      const known = new URL(request.url ?? '', 'http://here').pathname === path;
      const type = known || unknown.startsWith('{') ? 'application/json' : 'text/html';
      response.writeHead(known ? 200 : 404, { 'content-type': type });
      response.end(known ? '{"jobs":[]}' : unknown);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
  }

  async function pagesOf(batchUrl: string): Promise<number> {
    const clients = createSpeechClients({
      apiKey: 'a-long-api-key',
      regions: { eu1: { batchUrl } },
      retries: 0,
    });
    try {
      let pages = 0;
      for await (const page of clients.jobs('eu1').list()) pages += 1 + page.jobs.length;
      return pages;
    } finally {
      await clients.close();
    }
  }

  // Rule: Jobs API: `/v2/jobs/` lists the key's jobs
  // Rule: Contradictions: the list: `/v2/jobs/`, or `/v2/jobs`
  it.each(['/v2/jobs', '/v2/jobs/'])('is found by a server that knows it as %s only', async (path) => {
    const server = await servingOnly(path);
    expect(await pagesOf(server.url)).toBeLessThanOrEqual(1);
    server.close();
  });

  it('is found by a server that answers other paths with a web page', async () => {
    const server = await servingOnly('/v2/jobs', '<html>404 page not found</html>');
    expect(await pagesOf(server.url)).toBeLessThanOrEqual(1);
    server.close();
  });

  it('is missed in the words of the first answer when neither spelling is known', async () => {
    const server = await servingOnly('/elsewhere');
    await expect(pagesOf(server.url)).rejects.toMatchObject({ kind: 'not-found', status: 404 });
    server.close();
  });
});
