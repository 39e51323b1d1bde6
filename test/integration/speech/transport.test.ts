import { getEventListeners } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createSpeechClients,
  type Download,
  type SpeechClients,
  type SpeechOptions,
} from '../../../src/speech/speech.js';
import { type ManualClock, manualClock } from '../../support/manual-clock.js';
import { until } from '../../support/until.js';

const KEY = 'a-secret-api-key';
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Setup {
  readonly jobs: ReturnType<SpeechClients['jobs']>;
  readonly clock: ManualClock;
  readonly seen: http.IncomingMessage[];
  readonly url: string;
}

type Respond = (request: http.IncomingMessage, response: http.ServerResponse, index: number) => void;

async function serve(respond: Respond, options: Partial<SpeechOptions> = {}): Promise<Setup> {
  const seen: http.IncomingMessage[] = [];
  // No idle timeout: after the process was suspended, a request would race with the close.
  const server = http.createServer({ keepAliveTimeout: 0 }, (request, response) => {
    seen.push(request);
    request.resume();
    respond(request, response, seen.length - 1);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clock = manualClock();
  const clients = createSpeechClients({
    apiKey: KEY,
    regions: { eu1: { batchUrl: url } },
    clock,
    retry: { random: () => 0 },
    ...options,
  });
  closers.push(
    () => clients.close(),
    () => server.closeAllConnections(),
    () => new Promise((resolve) => server.close(resolve)),
  );
  return { jobs: clients.jobs('eu1'), clock, seen, url };
}

const json = (response: http.ServerResponse, status: number, body: unknown, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const html = (response: http.ServerResponse, status: number) =>
  response.writeHead(status, { 'content-type': 'text/html' }).end('<html><b>Sorry</b></html>');
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'succeeded',
    (error: unknown) => error,
  );

const received = (jobs: Setup['jobs']) =>
  jobs.receive('abc', 'media', async ({ body }) => (await body.toArray()).join(''));

/** Ten seconds pass between one byte and the next, as the client's clock sees it. */
function drip(response: http.ServerResponse, clock: ManualClock): void {
  response.write(' ', () => {
    setImmediate(() => {
      clock.advance(10_000);
      if (!response.destroyed) drip(response, clock);
    });
  });
}

describe('retries', () => {
  it('end an answer that comes byte by byte, which would keep a run waiting for ever', async () => {
    const setup = await serve((_request, response, index) => {
      if (index < 2) drip(response, setup.clock);
      else json(response, 200, { job: { id: 'abc', status: 'done', created_at: '2026-01-01T00:00:00Z' } });
    });
    expect((await setup.jobs.record('abc')).id).toBe('abc');
    expect(setup.seen).toHaveLength(3);
  });

  it('follow 429, 503 and broken connections with growing waits, then succeed', async () => {
    const { jobs, clock, seen } = await serve((_request, response, index) => {
      if (index === 0) return html(response, 429);
      if (index === 1) return json(response, 503, { code: 503, error: 'busy' });
      if (index === 2) return response.destroy();
      return json(response, 200, { summary: [] });
    });
    expect(await jobs.usage()).toEqual({ summary: [] });
    expect(seen).toHaveLength(4);
    expect(clock.slept).toEqual([250, 500, 1_000]);
  });

  it('are bounded and end with the last error', async () => {
    const { jobs, seen } = await serve((_request, response) => html(response, 429));
    expect(await failure(jobs.usage())).toMatchObject({ kind: 'rate-limited', status: 429, said: null });
    expect(seen).toHaveLength(5);
  });

  it.each([
    ['seconds', '7'],
    ['a date', new Date(manualClock().now() + 7_000).toUTCString()],
  ])('wait as long as Retry-After says in %s', async (_form, value) => {
    const { jobs, clock } = await serve((_request, response, index) =>
      json(response, index === 0 ? 503 : 200, {}, { 'retry-after': value }),
    );
    await jobs.usage();
    expect(clock.slept).toEqual([7_000]);
  });

  it('end at once when Retry-After exceeds the remaining time', async () => {
    const { jobs, seen } = await serve((_request, response) =>
      json(response, 503, {}, { 'retry-after': '3600' }),
    );
    expect(await failure(jobs.usage())).toMatchObject({ kind: 'unavailable', retryAfterMs: 3_600_000 });
    expect(seen).toHaveLength(1);
  });

  // Rule: Silences: rate limits, `Retry-After`
  it('pause the whole region for as long as Retry-After says', async () => {
    const { jobs, clock, seen } = await serve((_request, response, index) =>
      index === 0
        ? json(response, 429, {}, { 'retry-after': '120' })
        : json(response, 200, { at: clock.now() }),
    );
    const [first] = await Promise.all([jobs.usage(), jobs.usage(), jobs.usage()]);
    expect(first).toMatchObject({ at: manualClock().now() + 120_000 });
    expect(seen.length).toBeLessThanOrEqual(6);
    const later = await jobs.usage();
    expect(later.at).toBeGreaterThanOrEqual(manualClock().now() + 120_000);
  });

  it('are not sent while the region is paused for longer than requests wait', async () => {
    const { jobs, clock, seen } = await serve((_request, response, index) =>
      index === 0 ? json(response, 429, {}, { 'retry-after': '3600' }) : json(response, 200, {}),
    );
    expect(await failure(jobs.usage())).toMatchObject({ kind: 'rate-limited', status: 429 });
    for (let n = 0; n < 200; n += 1) {
      expect(await failure(jobs.usage())).toMatchObject({ kind: 'paused', status: null });
    }
    expect(seen).toHaveLength(1);
    expect(clock.slept).toEqual([]);
    clock.advance(3_600_000);
    expect(await jobs.usage()).toEqual({});
  });

  it('end when a service requests one pause after another', async () => {
    const { jobs, clock, seen } = await serve((_request, response) =>
      json(response, 503, {}, { 'retry-after': '120' }),
    );
    const began = clock.now();
    for (let n = 0; n < 50; n += 1) await failure(jobs.usage());
    expect(clock.now() - began).toBeLessThanOrEqual(300_000);
    expect(seen).toHaveLength(3);
  });

  it.each([
    [400, 'invalid-request'],
    [401, 'unauthorised'],
    [403, 'forbidden'],
    [404, 'not-found'],
    [410, 'gone'],
    [422, 'invalid-request'],
  ])('are not spent on %d (%s)', async (status, kind) => {
    const { jobs, seen } = await serve((_request, response) => json(response, status, { code: status }));
    expect(await failure(jobs.record('abc'))).toMatchObject({ kind, status });
    expect(seen).toHaveLength(1);
  });

  it('stop when the caller aborts', async () => {
    const stop = new AbortController();
    const { jobs, seen } = await serve((_request, response) => {
      stop.abort();
      json(response, 503, {});
    });
    expect(await failure(jobs.usage({}, stop.signal))).toMatchObject({ kind: 'aborted' });
    expect(seen).toHaveLength(1);
  });
});

describe('answers that are not the service', () => {
  // Rule: Silences: bodies of errors
  it.each([404, 410])('a page that says %d proves nothing about a job', async (status) => {
    const { jobs } = await serve((_request, response) => html(response, status));
    expect(await failure(jobs.record('abc'))).toMatchObject({ kind: 'invalid-response', status });
  });

  it('a page with 200 is no list', async () => {
    const { jobs } = await serve((_request, response) => html(response, 200));
    expect(await failure(jobs.usage())).toMatchObject({ kind: 'invalid-response' });
  });

  it.each([301, 302, 307, 308])(
    // Rule: Authentication: keys stay secret
    'a redirect with %d is not followed, whatever it points to',
    async (status) => {
      const other = await serve((_request, response) => json(response, 200, {}));
      const { jobs } = await serve((_request, response) =>
        response.writeHead(status, { location: `${other.url}/?token=t` }).end(),
      );
      const error = await failure(jobs.usage());
      expect(error).toMatchObject({ kind: 'redirect', status });
      expect(String(error)).not.toContain('token');
      expect(other.seen).toHaveLength(0);
    },
  );

  it.each([[{ jobs: 'none' }], [[]], [null], [{ jobs: [{ id: 7 }, 'x'] }]])(
    'a list %j is an error',
    async (list) => {
      const { jobs } = await serve((_request, response) => json(response, 200, list));
      const pages = (async () => {
        for await (const _page of jobs.list()) void 0;
      })();
      expect(await failure(pages)).toMatchObject({ kind: 'invalid-response' });
    },
  );

  // Rule: Job record: `id`, `status`, `created_at` (UTC, milliseconds), `data_name`, `duration`, `config`
  it('entries of a list that are no jobs are counted, the others kept', async () => {
    const good = { id: 'abc', status: 'done', created_at: '2026-01-01T00:00:00.000Z', news: 1 };
    const { jobs } = await serve((_request, response, index) =>
      json(response, 200, { jobs: index === 0 ? [good, { id: '../x', status: 'done' }, 7] : [] }),
    );
    for await (const page of jobs.list()) {
      expect(page.malformed).toBe(2);
      expect(page.jobs).toEqual([{ ...good, data_name: '', config: { type: 'unknown' } }]);
    }
  });

  it('a server that does not speak HTTP is reported as such', async () => {
    const server = net.createServer((socket) => socket.resume().end('220 mail.example ESMTP\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => new Promise((resolve) => server.close(resolve)));
    const batchUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const clients = createSpeechClients({ apiKey: KEY, regions: { eu1: { batchUrl } }, retries: 0 });
    closers.push(() => clients.close());
    expect(await failure(clients.jobs('eu1').usage())).toMatchObject({ kind: 'invalid-response' });
  });

  // Rule: Authentication: keys stay secret
  it('messages of the service are redacted of the API key', async () => {
    const { jobs } = await serve((_request, response) =>
      json(response, 400, { code: 400, error: 'Bad', detail: `Bearer ${KEY}\n<b>` }),
    );
    const error = await failure(jobs.usage());
    expect(error).toMatchObject({ said: 'Bad: Bearer [secret] <b>' });
    expect(String(error)).not.toContain(KEY);
  });
});

describe('time-outs', () => {
  it('ends with a service that does not answer', async () => {
    const { jobs } = await serve(() => {}, { requestTimeout: 50, retries: 0 });
    expect(await failure(jobs.usage())).toMatchObject({ kind: 'timeout' });
  });

  it('ends with a body that stalls', async () => {
    const { jobs } = await serve(
      (_request, response) => {
        response.writeHead(200, { 'content-length': 100 }).write('half');
      },
      { requestTimeout: 50, retries: 0 },
    );
    expect(await failure(received(jobs))).toMatchObject({ kind: 'timeout' });
  });
});

describe('downloads', () => {
  it('in chunks without the last one are truncated', async () => {
    const { jobs } = await serve((_request, response) => {
      response.writeHead(200);
      response.write(Buffer.alloc(50_000), () => response.destroy());
    });
    expect(await failure(received(jobs))).toMatchObject({ kind: 'truncated' });
  });

  it('that break off are retried like other requests', async () => {
    const { jobs, clock, seen } = await serve((_request, response, index) => {
      if (index === 1) return response.destroy();
      response.writeHead(200, { 'content-length': 5 });
      if (index === 3) return response.end('whole');
      return response.write('wh', () => response.destroy());
    });
    expect(await received(jobs)).toBe('whole');
    expect(seen).toHaveLength(4);
    expect(clock.slept).toEqual([250, 500, 1_000]);
  });

  it('that always break off fail after the last retry', async () => {
    const { jobs, seen } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 5 }).write('wh', () => response.destroy());
    });
    expect(await failure(received(jobs))).toMatchObject({ kind: 'truncated' });
    expect(seen).toHaveLength(5);
  });

  it('that stall are retried', async () => {
    const { jobs } = await serve(
      (_request, response, index) => {
        response.writeHead(200, { 'content-length': 5 });
        if (index === 0) response.write('wh');
        else response.end('whole');
      },
      { requestTimeout: 1_000 },
    );
    expect(await received(jobs)).toBe('whole');
  });

  it('that are too slow are retried', async () => {
    const setup = await serve((_request, response, index) => {
      response.writeHead(200, { 'content-length': 100_000 });
      if (index < 2) drip(response, setup.clock);
      else response.end(Buffer.alloc(100_000, 'x'));
    });
    expect(await received(setup.jobs)).toHaveLength(100_000);
    expect(setup.seen).toHaveLength(3);
  });

  it('are not retried for an error of the caller', async () => {
    const { jobs, seen } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 5 }).end('whole');
    });
    const trouble = new Error('the disk is full');
    const taking = jobs.receive('abc', 'media', async () => {
      throw trouble;
    });
    expect(await failure(taking)).toBe(trouble);
    expect(seen).toHaveLength(1);
  });

  it('that the caller reads slowly do not time out', async () => {
    const { jobs, clock } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 1_000_000 }).end(Buffer.alloc(1_000_000));
    });
    let bytes = 0;
    await jobs.receive('abc', 'media', async ({ body }) => {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        // The next bytes have come and wait for the caller.
        await until(() => body.readableLength > 0 || bytes === 1_000_000);
        clock.advance(3_600_000);
      }
    });
    expect(bytes).toBe(1_000_000);
  });

  it.each([
    [206, {}],
    [202, {}],
    [204, {}],
    [200, { 'content-encoding': 'gzip' }],
  ])('with %d and %j are no whole body as it was asked for', async (status, headers) => {
    const { jobs } = await serve((_request, response) => {
      response.writeHead(status, headers).end(status === 204 ? undefined : 'bytes');
    });
    expect(await failure(received(jobs))).toMatchObject({ kind: 'invalid-response', status });
  });

  it('whose end cannot be distinguished from a broken connection are rejected', async () => {
    const { jobs } = await serve((_request, response) => {
      response.removeHeader('connection');
      response.socket?.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nwhole or not?');
    });
    expect(await failure(received(jobs))).toMatchObject({ kind: 'invalid-response' });
  });

  it('end when the caller aborts', async () => {
    const stop = new AbortController();
    const { jobs } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('half');
    });
    const abort = ({ body }: Download) => body.once('data', () => stop.abort()).toArray();
    const taking = jobs.receive('abc', 'media', abort, stop.signal);
    expect(await failure(taking)).toMatchObject({ kind: 'aborted' });
  });

  it('release their connection when they are not wanted any more', async () => {
    const { jobs, seen } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 1_000_000_000 }).write(Buffer.alloc(100_000));
    });
    await jobs.receive('abc', 'media', async () => {});
    await until(() => seen[0]?.socket.destroyed === true);
  });
});

describe('a signal over many requests', () => {
  it('is left by each of them when it is done', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    const { signal } = new AbortController();
    const { jobs } = await serve(
      (_request, response, index) => {
        if (index % 5 === 4) json(response, 503, {});
        else response.writeHead(200, { 'content-length': 2 }).end('{}');
      },
      { maxRequestsPerSecond: 100_000 },
    );
    const one = async (n: number) => {
      if (n % 2 === 0) return jobs.usage({}, signal);
      return jobs.receive('abc', 'media', ({ body }) => body.toArray(), signal);
    };
    for (let n = 0; n < 10; n += 1) await Promise.all(Array.from({ length: 16 }, (_, m) => one(n * 16 + m)));
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    process.off('warning', onWarning);
    expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([]);
  });
});

describe('clients that are closed', () => {
  it.each([
    ['an answer', (): void => undefined],
    ['the next attempt', (response: http.ServerResponse) => json(response, 503, {})],
    [
      'the end of a pause',
      (response: http.ServerResponse) => json(response, 429, {}, { 'retry-after': '20' }),
    ],
  ])('end requests that wait for %s', async (_, respond) => {
    const { seen, url } = await serve((_request, response) => respond(response));
    const clients = createSpeechClients({
      apiKey: KEY,
      regions: { eu1: { batchUrl: url } },
      retries: 1,
      retry: { baseDelayMs: 20_000 },
    });
    const asked = failure(clients.jobs('eu1').record('abc'));
    await until(() => seen.length === 1);
    await clients.close();
    expect(await asked).toMatchObject({ kind: 'aborted' });
  });

  it('repeat nothing, although a request has a signal of its own', async () => {
    const { seen, url, clock } = await serve(() => undefined);
    const clients = createSpeechClients({ apiKey: KEY, regions: { eu1: { batchUrl: url } }, clock });
    const { signal } = new AbortController();
    const asked = failure(clients.jobs('eu1').record('abc', signal));
    await until(() => seen.length === 1);
    await clients.close();
    expect(await asked).toMatchObject({ kind: 'network' });
    expect(clock.slept).toEqual([]);
  });
});

describe('what is sent', () => {
  // Rule: Temporary keys: POST `/v1/api_keys`, `Bearer`, JSON body
  // Rule: Authentication: requests carry `Bearer` and key
  // Rule: Jobs API: record, also at `/jobs/{id}`
  // Rule: Contradictions: a record: with or without `/v2`
  // Rule: Silences: paths for transcript, media, submission, deletion, usage
  it('goes below the path of the address, with key and user agent', async () => {
    const { seen, url } = await serve((_request, response) => json(response, 200, {}));
    const clients = createSpeechClients({
      apiKey: KEY,
      regions: { au1: { batchUrl: `${url}/proxy/` } },
      paths: { record: '/jobs/{id}' },
    });
    closers.push(() => clients.close());
    await failure(clients.jobs('au1').record('abc'));
    expect(seen[0]?.url).toBe('/proxy/jobs/abc');
    expect(seen[0]?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'user-agent': 'transcript-receiver',
    });
  });

  // Rule: Silences: rate limits, `Retry-After`
  it('keeps to the rate', async () => {
    const { jobs, clock, seen } = await serve((_request, response) => json(response, 200, {}), {
      maxRequestsPerSecond: 10,
    });
    const began = clock.now();
    for (let request = 0; request < 40; request += 1) await jobs.usage();
    expect(seen).toHaveLength(40);
    expect(clock.now() - began).toBe(3_000);
  });
});
