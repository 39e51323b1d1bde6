import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.js';
import type { CallbackStatus, NotificationConfig } from '../../src/speech/wire.js';
import { createFileStore } from '../../src/store/file/file-store.js';
import type { ObjectStore } from '../../src/store/object-store.js';
import { rawClient } from '../support/http/raw-http.js';
import { ledgerOf, segmentOf, visibleKeys } from '../support/ledger/ledger-of.js';
import { adminApi, sendCallback } from '../support/processes/admin-api.js';
import { type RunningService, startService } from '../support/processes/running-service.js';
import { until } from '../support/until.js';

let service: RunningService;

describe('callbacks by the rules of the service', () => {
  /*
   * The service's rules of callbacks, sent by the simulator and stored by the receiver. The first simulator keeps to the
   * specification, the second sends the other variant wherever there is one.
   */

  const TOKEN = 'X-Callback-Token: correct-horse-battery-staple';
  let strict: Simulator;
  let variant: Simulator;

  beforeAll(async () => {
    service = await startService({
      sources: { default: {}, guarded: { credentials: { main: { headers: [TOKEN] } } } },
    });
    const options = { regions: { eu1: 0 }, timeScale: 0.001 };
    strict = await createSimulator({ ...options, seed: 'strict' });
    variant = await createSimulator({
      ...options,
      seed: 'variant',
      notifier: {
        absentContents: 'data_file',
        loneData: 'raw',
        errorBody: 'remaining',
        partTypes: 'true',
        framing: 'chunked',
      },
    });
  });

  afterAll(async () => {
    await Promise.all([strict.close(), variant.close()]);
    await service.stop();
  });

  interface Acknowledgement {
    readonly items: readonly { readonly kind: string; readonly sha256: string; readonly outcome: string }[];
  }

  interface Sent {
    readonly contents?: readonly string[] | undefined;
    readonly outcome?: CallbackStatus;
    readonly entries?: readonly Partial<NotificationConfig>[];
  }

  /** Runs a job; gives what the receiver acknowledged of each callback that it answered. */
  async function deliver(simulator: Simulator, { contents, outcome = 'success', entries = [{}] }: Sent) {
    const { id, notified } = simulator.submit({
      config: {
        type: 'transcription',
        notification_config: entries.map((entry) => ({
          url: `${service.publicUrl}/callbacks/default`,
          ...(contents === undefined ? {} : { contents }),
          ...entry,
        })),
      },
      outcome,
      mediaBytes: 20_001,
    });
    const outcomes = await notified;
    const answers = simulator.deliveries.ofJob(id).map(({ answer }) => ({
      status: answer?.status,
      items: answer?.status === 200 ? (JSON.parse(answer.body) as Acknowledgement).items : [],
    }));
    return { id, outcomes, answers };
  }

  const kindOf = (token: string) => (token === 'transcript' ? 'transcript.json-v2' : token);

  /** Every item is stored with the service's bytes. */
  async function expectStored(simulator: Simulator, sent: Sent, kinds: readonly string[]): Promise<void> {
    const { id, outcomes, answers } = await deliver(simulator, sent);
    expect(outcomes).toEqual(['delivered']);
    expect(answers).toHaveLength(1);
    const items = answers[0]?.items ?? [];
    expect(items.map(({ kind }) => kind).sort()).toEqual([...kinds].sort());
    for (const { kind, sha256, outcome } of items) {
      expect([kind, outcome]).toEqual([kind, 'created']);
      expect(sha256).toBe(await simulator.expected(id)[kind as 'data'].sha256());
    }
  }

  describe('the receiver stores', () => {
    it.each(['transcript', 'transcript.json-v2', 'jobinfo', 'transcript.txt', 'transcript.srt'])(
      // Rule: Notification configuration: `transcript` means `transcript.json-v2`
      // Rule: Notification configuration: `jobinfo` is the submitted configuration
      // Rule: Callback request: status `success`
      // Rule: Body rules: one of `transcript`, `transcript.json-v2`, `jobinfo`: `application/json`
      // Rule: Body rules: one of `transcript.srt`, `transcript.txt`: `text/plain`
      'a lone %s, sent as the body itself',
      (token) => expectStored(strict, { contents: [token] }, [kindOf(token)]),
    );

    // Rule: Body rules: `data` alone: `multipart/form-data`
    // Rule: Contradictions: lone `data`: a form, or the bytes
    it('a lone data, sent as a form of one attachment', () =>
      expectStored(strict, { contents: ['data'] }, ['data']));

    // Rule: Body rules: a single item is the body, also `data`
    // Rule: Contradictions: lone `data`: a form, or the bytes
    it('a lone data, sent as the body itself', () => expectStored(variant, { contents: ['data'] }, ['data']));

    it.each([
      [['transcript', 'jobinfo']],
      [['data', 'transcript.srt']],
      [['transcript', 'transcript.txt', 'transcript.srt', 'jobinfo', 'data']],
      // Rule: Notification configuration: `contents`: `transcript`, `transcript.json-v2`, `transcript.txt`, `transcript.srt`, `data`,
      // `jobinfo` Rule: Body rules: several items: `multipart/form-data` Rule: Silences: framing of callbacks, encodings, delivery ids,
      // order
    ])('several items, one attachment each: %j', async (contents) => {
      await expectStored(strict, { contents }, contents.map(kindOf));
      await expectStored(variant, { contents }, contents.map(kindOf));
    });

    // Rule: Notification configuration: `contents` is empty by default
    // Rule: Body rules: empty `contents`: no body
    // Rule: Contradictions: no `contents`: empty, or attachment `data_file`
    it('id and status alone, for contents that are empty or absent', async () => {
      await expectStored(strict, { contents: [] }, []);
      await expectStored(strict, {}, []);
    });

    // Rule: Contradictions: no `contents`: empty, or attachment `data_file`
    it('the transcript as one attachment named data_file, for contents that are absent', () =>
      expectStored(variant, {}, ['transcript.json-v2']));

    it.each<CallbackStatus>(['error', 'fetch_error', 'trim_error'])(
      // Rule: Callback request: one per entry of failed jobs
      // Rule: Callback request: status `error`, `fetch_error`, `trim_error`
      // Rule: Body rules: on error only `jobinfo`
      // Rule: Contradictions: failed job: `jobinfo`, or the existing items
      'only jobinfo of a job that ended with %s',
      async (outcome) => {
        await expectStored(strict, { contents: ['transcript', 'data', 'jobinfo'], outcome }, ['jobinfo']);
        await expectStored(variant, { contents: ['transcript', 'jobinfo'], outcome }, ['jobinfo']);
        await expectStored(variant, { contents: ['transcript', 'data'], outcome }, []);
        const statuses = (await ledgerOf(service.folder)).map(({ status }) => status);
        expect(statuses).toContain(outcome);
      },
    );

    // Rule: Notification configuration: `method`: `POST` (default) or `PUT`
    // Rule: Delivery: a 2xx ends the delivery
    it.each(['POST', 'PUT'])('what comes by %s', (method) =>
      expectStored(strict, { contents: ['transcript'], entries: [{ method }] }, ['transcript.json-v2']),
    );
  });

  describe('the receiver answers', () => {
    // Rule: Callback request: one per entry of done jobs
    // Rule: Callback request: callbacks come in parallel, unordered
    it('each of three callbacks of a job by itself, in any order', async () => {
      const { outcomes, answers } = await deliver(strict, {
        entries: [{ contents: ['transcript'] }, { contents: ['data', 'transcript.txt'] }, { contents: [] }],
      });
      expect(outcomes).toEqual(['delivered', 'delivered', 'delivered']);
      expect(answers.flatMap(({ items }) => items.map(({ kind }) => kind)).sort()).toEqual([
        'data',
        'transcript.json-v2',
        'transcript.txt',
      ]);
    });

    // Rule: Authentication: callbacks: by `auth_headers`
    // Rule: Callback request: `auth_headers` are sent
    // Rule: Delivery: other answers are retried, also 5xx and 413
    it('2xx to the auth_headers of the source, and 401 to others until the service gives up', async () => {
      const url = `${service.publicUrl}/callbacks/guarded`;
      const right = await deliver(strict, { entries: [{ url, auth_headers: [TOKEN] }] });
      expect([right.outcomes, right.answers.map(({ status }) => status)]).toEqual([['delivered'], [200]]);
      const wrong = await deliver(strict, { entries: [{ url, auth_headers: ['X-Callback-Token: other'] }] });
      expect(wrong.outcomes).toEqual(['failed']);
      expect(wrong.answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
      expect(strict.job(wrong.id)?.errors).toHaveLength(5);
    });

    // Rule: Delivery: a missing answer is retried
    // Rule: Silences: framing of callbacks, encodings, delivery ids, order
    it('a callback that comes again as a duplicate, and stores it once', async () => {
      strict.faults.add({ kind: 'duplicate', times: 1 });
      const { answers } = await deliver(strict, { contents: ['transcript', 'data'] });
      expect(answers.map(({ items }) => items.map(({ outcome }) => outcome))).toEqual([
        ['created', 'created'],
        ['identical', 'identical'],
      ]);
    });

    // Rule: Delivery: a missing answer is retried
    it('a callback that broke off when it is sent again, whole', async () => {
      strict.faults.add({ kind: 'cut', times: 1 });
      const { outcomes, answers } = await deliver(strict, { contents: ['data', 'jobinfo'] });
      expect([outcomes, answers.map(({ status }) => status)]).toEqual([['delivered'], [undefined, 200]]);
    });
  });
});

describe('the context of a callback', () => {
  /** The submitter's own parameters, from the callback URL into the ledger and the metadata of the artefacts. */

  const JSON_TYPE = { 'content-type': 'application/json' };
  const TRANSCRIPT = JSON.stringify({ format: '2.9', job: { id: 'j' }, metadata: {}, results: [] });
  let store: ObjectStore;

  beforeAll(async () => {
    service = await startService({
      sources: { default: { context: ['call', 'Customer_Id'] }, plain: { keyPrefix: 'plain/' } },
    });
    store = createFileStore({ directory: service.folder, partSize: 64 * 1024 });
  });

  afterAll(async () => {
    await store.close();
    await service.stop();
  });

  const send = (query: string, body = TRANSCRIPT, source = 'default') =>
    sendCallback(service, query, body, JSON_TYPE, source);

  async function linesOf(jobId: string) {
    return (await ledgerOf(service.folder)).filter((line) => line.jobId === jobId);
  }

  async function contextMetadata(key: string) {
    const { metadata = {} } = (await store.head(key)) ?? {};
    return Object.fromEntries(Object.entries(metadata).filter(([name]) => name.startsWith('context-')));
  }

  it('is in its ledger line and in the metadata of what it stored; other parameters are not', async () => {
    expect(await send('team=x&call=%2B49%2F1&Customer_Id=A-7&id=c1&status=success')).toMatchObject({
      status: 200,
      json: { outcome: 'stored' },
    });
    expect(await linesOf('c1')).toEqual([
      expect.objectContaining({ context: { call: '+49/1', Customer_Id: 'A-7' } }),
    ]);
    expect(await contextMetadata('jobs/c1/transcript.json')).toEqual({
      'context-call': '+49/1',
      'context-customer-id': 'A-7',
    });
  });

  it.each([
    ['%00', 'malformed'],
    ['1&call=1', 'repeated'],
  ])('never costs the transcript: call=%s is left out as %s', async (value, why) => {
    const id = `bad-${value.length}-${value.codePointAt(0)}`;
    const answer = await send(`id=${id}&status=success&call=${value}&Customer_Id=7`);
    expect(answer).toMatchObject({ status: 200, json: { outcome: 'stored' } });
    const [line] = await linesOf(id);
    expect(line).toMatchObject({ context: { Customer_Id: '7' }, contextOmitted: { call: why } });
    expect(await contextMetadata(`jobs/${id}/transcript.json`)).toEqual({ 'context-customer-id': '7' });
  });

  it('of each delivery is in its own line, and the artefact keeps the one it was stored with', async () => {
    await send('id=c2&status=success&call=1');
    await send('id=c2&status=success&call=2');
    await send('id=c2&status=success&call=3', `${TRANSCRIPT} `);
    const lines = await linesOf('c2');
    expect(lines.map(({ outcome, context }) => [outcome, context?.call])).toEqual([
      ['stored', '1'],
      ['duplicate', '2'],
      ['conflict', '3'],
    ]);
    expect(await contextMetadata('jobs/c2/transcript.json')).toEqual({ 'context-call': '1' });
    expect(await contextMetadata(lines[2]?.items[0]?.key ?? '')).toEqual({ 'context-call': '3' });
  });

  it('is in the line of a refused delivery too, and nowhere for a source that admits none', async () => {
    await send('id=c3&status=success&call=1', 'x'.repeat(200_000));
    expect((await linesOf('c3'))[0]).toMatchObject({ outcome: 'refused', context: { call: '1' } });
    await send('id=c4&status=success&call=1', TRANSCRIPT, 'plain');
    expect((await linesOf('c4'))[0]).not.toHaveProperty('context');
    expect(await contextMetadata('plain/jobs/c4/transcript.json')).toEqual({});
  });

  it('is a filter of the list of deliveries', async () => {
    const api = adminApi(service);
    const jobsOf = async (filter: string) => {
      const { body } = await api.get(`/deliveries?context=${encodeURIComponent(filter)}`);
      return body.deliveries.map(({ jobId }: { jobId: string }) => jobId);
    };
    expect(await jobsOf('call=+49/1')).toEqual(['c1']);
    expect(await jobsOf('call=2')).toEqual(['c2']);
    expect(await jobsOf('call=1')).toEqual(['c3', 'c2']);
    expect(await jobsOf('Customer_Id=1')).toEqual([]);
    expect((await api.get('/names')).body.contexts).toEqual(['Customer_Id', 'call']);
  });

  it.each([
    ['cal=1', '"cal" is not known; sources admit Customer_Id, call'],
    ['constructor=1', '"constructor" is not known'],
    ['acme', 'context must be <name>=<value>, such as Customer_Id=acme or call=acme.'],
    ['call', 'context must be <name>=<value>, such as Customer_Id=123 or call=123.'],
    ['call=a b', 'context must be'],
  ])('refuses the filter %s', async (filter, detail) => {
    const { status, body } = await adminApi(service).get(`/deliveries?context=${encodeURIComponent(filter)}`);
    expect([status, body.detail]).toEqual([400, expect.stringContaining(detail)]);
  });
});

describe('segments', () => {
  beforeAll(async () => {
    service = await startService({ ledger: { maxLinger: '5s' }, limits: { maxConcurrentDeliveries: 48 } });
  });

  afterAll(() => service.stop());

  it('callbacks share a ledger segment within ledger.maxLinger, which ends once half of the possible deliveries wait', async () => {
    const sent = Array.from({ length: 24 }, (_, index) =>
      sendCallback(service, `id=j${index}&status=success`, undefined),
    );
    for (const { status } of await Promise.all(sent)) expect(status).toBe(200);
    expect(await ledgerOf(service.folder)).toHaveLength(24);
    const segments = await visibleKeys(service.folder, 'ledger/');
    // Two when the hour ended meanwhile.
    expect(segments).toHaveLength(new Set(segments.map((key) => dirname(key))).size);
  });
});

describe('2xx and the store', () => {
  /*
   * The promise of the product as a property: 2xx if and only if the store holds exactly the bytes that were
   * sent; otherwise nothing but a ledger line. Bodies may be whole, cut or broken, in any chunking.
   */

  beforeAll(async () => {
    service = await startService({ store: { partSize: '64KiB' }, limits: { maxConcurrentDeliveries: 1000 } });
  });

  afterAll(() => service.stop());

  interface Part {
    readonly name: string;
    readonly fileName: string | null;
    readonly content: Buffer;
  }

  interface Plan {
    readonly parts: readonly Part[];
    readonly framing: 'sized' | 'chunked';
    readonly method: 'POST' | 'PUT';
    readonly pieces: 'one' | 'random' | 'bytes';
    /** Bytes cut off the end of the body; the connection is closed then. */
    readonly cut: number;
    readonly seed: number;
  }

  const text = fc.string({ maxLength: 300 }).map((value) => Buffer.from(value));
  const large = fc.integer({ min: 0, max: 200_000 }).chain((size) =>
    fc.integer().map((seed) =>
      createHash('shake256', { outputLength: size || 1 })
        .update(String(seed))
        .digest(),
    ),
  );
  const part: fc.Arbitrary<Part> = fc.oneof(
    fc.record({
      name: fc.constant('transcript'),
      fileName: fc.constant('t.json'),
      content: fc.json().map(Buffer.from),
    }),
    fc.record({
      name: fc.constantFrom('transcript.txt', 'transcript.srt'),
      fileName: fc.constantFrom(null, 'a.txt'),
      content: text,
    }),
    fc.record({
      name: fc.constantFrom('data', 'notes.bin'),
      fileName: fc.constantFrom('x.wav', null),
      content: large,
    }),
  );
  const plan: fc.Arbitrary<Plan> = fc.record({
    parts: fc.array(part, { maxLength: 4 }),
    framing: fc.constantFrom('sized', 'chunked'),
    method: fc.constantFrom('POST', 'PUT'),
    pieces: fc.constantFrom('one', 'random', 'bytes'),
    cut: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 50 }) },
    ),
    seed: fc.integer({ min: 1 }),
  });

  let jobs = 0;

  describe('every delivery', () => {
    it('is acknowledged if and only if the store holds exactly its bytes', async () => {
      await fc.assert(
        fc.asyncProperty(plan, async (generated) => {
          jobs += 1;
          const jobId = `p${jobs}`;
          const status = await send(jobId, generated);
          if (generated.cut > 0) await expectNothingKept(jobId, status);
          else await expectEverythingKept(jobId, status, generated.parts);
        }),
        { numRuns: 120 },
      );
    });
  });

  async function expectEverythingKept(
    jobId: string,
    status: number | null,
    parts: readonly Part[],
  ): Promise<void> {
    expect(status).toBe(200);
    const [line] = await linesOf(jobId);
    expect(line?.items).toHaveLength(parts.length);
    for (const [n, item] of (line?.items ?? []).entries()) {
      const stored = await readFile(join(service.folder, item.key));
      expect(stored.equals(parts[n]?.content as Buffer)).toBe(true);
      expect(item).toMatchObject({
        size: stored.length,
        sha256: createHash('sha256').update(stored).digest('hex'),
      });
    }
  }

  /** A cut body is refused; when the sender is still there to hear it, with anything but 2xx. */
  async function expectNothingKept(jobId: string, status: number | null): Promise<void> {
    if (status !== null) expect(status).toBeGreaterThanOrEqual(400);
    await until(async () => (await linesOf(jobId)).length > 0);
    expect((await linesOf(jobId)).map(({ outcome, items }) => ({ outcome, items }))).toEqual([
      { outcome: 'refused', items: [] },
    ]);
    expect(await visibleKeys(service.folder, `jobs/${jobId}/`)).toEqual([]);
  }

  /** Segments never change, so each is read once. */
  type Lines = Awaited<ReturnType<typeof segmentOf>>;
  const segments = new Map<string, Lines>();

  async function linesOf(jobId: string): Promise<Lines> {
    for (const key of await visibleKeys(service.folder, 'ledger/')) {
      if (!segments.has(key)) segments.set(key, await segmentOf(service.folder, key));
    }
    return [...segments.values()].flat().filter((line) => line.jobId === jobId);
  }

  function encode(parts: readonly Part[]): Buffer {
    const chunks = parts.flatMap(({ name, fileName, content }) => [
      Buffer.from(`--b0undary\r\nContent-Disposition: form-data; name="${name}"`),
      Buffer.from(fileName === null ? '' : `; filename="${fileName}"`),
      Buffer.from('\r\nContent-Type: application/octet-stream\r\n\r\n'),
      content,
      Buffer.from('\r\n'),
    ]);
    return Buffer.concat([...chunks, Buffer.from('--b0undary--\r\n')]);
  }

  /** Sends the body piece by piece; resolves with the status, or null when the connection was cut before one. */
  async function send(
    jobId: string,
    { parts, framing, method, pieces, cut, seed }: Plan,
  ): Promise<number | null> {
    const whole = encode(parts);
    const body = whole.subarray(0, Math.max(0, whole.length - cut));
    const client = await rawClient(service.publicUrl);
    await client.send(
      `${method} /callbacks/default?id=${jobId}&status=success HTTP/1.1\r\nHost: r\r\n` +
        `Content-Type: multipart/form-data; boundary=b0undary\r\n` +
        `${framing === 'sized' ? `Content-Length: ${whole.length}` : 'Transfer-Encoding: chunked'}\r\n\r\n`,
    );
    for (const piece of split(body, pieces, seed)) {
      if (framing === 'chunked') await client.send(`${piece.length.toString(16)}\r\n`);
      await client.send(piece);
      if (framing === 'chunked') await client.send('\r\n');
    }
    if (cut > 0) client.socket.end();
    else if (framing === 'chunked') await client.send('0\r\n\r\n');
    const answer = await client.answer().catch(() => null);
    client.close();
    return answer?.status ?? null;
  }

  function* split(body: Buffer, pieces: Plan['pieces'], seed: number): Generator<Buffer> {
    let state = seed;
    for (let at = 0; at < body.length; ) {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      // Single bytes only at both ends: that is where the framing is.
      const edge = at < 300 || body.length - at < 300;
      const size = pieces === 'one' ? body.length : pieces === 'bytes' && edge ? 1 : 1 + (state % 40_000);
      yield body.subarray(at, at + size);
      at += size;
    }
  }
});
