import { expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { hourAt } from '../../../src/ledger/hours.js';
import { segmentKey } from '../../../src/ledger/segment-key.js';
import type { Issue } from '../../../src/operations/issues/issues.js';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.js';
import { openStore } from '../../../src/store/open-store.js';
import { rawClient } from '../../support/http/raw-http.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

/*
 * The light tells of callbacks that are rejected, also when a recovery fetched the results: by the page of any replica, and by
 * `status`, which reads the store alone. The tests run at the same time, each with a service of its own: they wait for counts that are
 * read every five seconds.
 */

const SECRET = 'X-Callback-Token: correct-horse-battery-staple';
const WRONG = 'X-Callback-Token: what-somebody-typed-instead';
const JSON_TYPE = { 'content-type': 'application/json' };
const credentials = { main: { headers: [SECRET] } };

interface Place extends RunningService {
  readonly simulator: Simulator;
}

const speechOf = (simulator: Simulator) => ({
  apiKey: simulator.apiKey,
  regions: Object.fromEntries(
    Object.entries(simulator.batchUrls).map(([region, batchUrl]) => [region, { batchUrl }]),
  ),
  maxRequestsPerSecond: 1000,
});

type Start = (settings?: Record<string, unknown>) => Promise<Place>;

/** A test with services of its own, which end with it: hooks do not run for concurrent tests. */
function withServices<Row extends unknown[]>(test: (start: Start, ...row: Row) => Promise<void>) {
  return async (...row: Row) => {
    const places: Place[] = [];
    const start: Start = async (settings = {}) => {
      const simulator = await createSimulator({ seed: 'refused', regions: { eu1: 0 }, timeScale: 0.001 });
      const speech = speechOf(simulator);
      const service = await startService({ sources: { intake: { credentials } }, speech, ...settings });
      const place = { ...service, simulator };
      places.push(place);
      return place;
    };
    try {
      await test(start, ...row);
    } finally {
      for (const { simulator, stop } of places.reverse()) {
        await simulator.close();
        await stop();
      }
    }
  };
}

/** A command with the settings of the service, as an operator or a CronJob runs it. */
function command(name: string, { folder, simulator }: Place, ...options: string[]) {
  const settings = {
    store: { url: `file:${folder}` },
    sources: { intake: { credentials } },
    speech: speechOf(simulator),
    recovery: { grace: '0s', interval: 'off' },
  };
  return runCommand([name, ...options], { NODE_CONFIG: JSON.stringify(settings) });
}

/** Writes lines as another replica would. */
async function appendLines(folder: string, lines: readonly LedgerLine[]): Promise<void> {
  const store = await openStore({ url: `file:${folder}` });
  const key = segmentKey({ hour: hourAt(Date.now()), writer: 'other', number: 1 });
  const body = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await store.create(key, body, { contentType: 'application/x-ndjson', metadata: {} });
  await store.close();
}

/** Jobs of the speech service with this header. Settles when it delivered or gave up their callbacks. */
async function submit(count: number, header: string, { publicUrl, simulator }: Place) {
  const jobs = Array.from({ length: count }, () =>
    simulator.submit({
      words: 20,
      config: {
        type: 'transcription',
        notification_config: [
          { url: `${publicUrl}/callbacks/intake`, contents: ['transcript'], auth_headers: [header] },
        ],
      },
    }),
  );
  return Promise.all(jobs.map(async ({ notified }) => (await notified)[0]));
}

/** Sends bytes, and waits for the answer. */
async function sendRaw(url: string, bytes: Buffer): Promise<void> {
  const client = await rawClient(url);
  await client.send(bytes);
  await client.answer();
  client.close();
}

const about = (issues: readonly Issue[], code: string) => issues.filter((issue) => issue.code === code);
const verdictOf = async (service: RunningService) => (await adminApi(service).get('/health')).body.verdict;
/** The issue once it counts all: counts are written within a second, then every ten, and read again after five. */
async function refusedOf(service: RunningService, refused: number): Promise<Issue | undefined> {
  let issue: Issue | undefined;
  await until(async () => {
    [issue] = about((await verdictOf(service)).issues, 'callbacks-refused');
    return issue?.params.refused === refused;
  });
  return issue;
}

it.concurrent(
  'a sender with the wrong secret is failing, by source and cause, also after reconcile fetched everything',
  withServices(async (start) => {
    const service = await start();
    expect(await submit(40, WRONG, service)).toEqual(Array(40).fill('failed'));
    const { code, stdout } = await command('reconcile', service, '--json');
    expect([code, JSON.parse(stdout).outcomes.recovered]).toEqual([0, 40]);

    await refusedOf(service, 160);
    const { level, issues } = await verdictOf(service);
    expect(level).toBe('failing');
    expect(issues[0]).toMatchObject({
      ...{ topic: 'callbacks', level: 'failing', code: 'callbacks-refused' },
      params: { source: 'intake', cause: 'credential-wrong', unit: 'requests', refused: 160, accepted: 0 },
    });
    expect(issues[1]).toMatchObject({
      ...{ topic: 'callbacks', level: 'failing', code: 'callbacks-missed' },
      params: { missed: 40, lastHour: 40, jobs: 40 },
    });
    const status = await command('status', service);
    expect(status.code).toBe(2);
    expect(status.stdout).toMatch(
      /^Act now\.\n {2}failing {2}160 callbacks to intake were rejected since 20\S+Z: the headers match no credential of the source\. In the last hour none was accepted\.\n {11}Compare auth_headers of the job with the credentials of the source\. Submit jobs with what transcript-receiver notification-config intake prints\./,
    );
    expect(status.stdout).toMatch(/The callbacks of 40 of 40 jobs since 20\S+Z did not bring the results/);
    const doctor = await command('doctor', service);
    expect([doctor.code, doctor.stdout]).toEqual([
      1,
      expect.stringMatching(
        /^failed {3}callbacks: 160 callbacks to intake were rejected since 20\S+Z: the headers match no credential of the source\. .*\n {9}-> Compare auth_headers[^\n]+\nfailed {3}callbacks: The callbacks of 40 of 40 jobs/m,
      ),
    ]);
  }),
);

it.concurrent(
  'a sender with the wrong secret is known to a replica that starts afterwards',
  withServices(async (start) => {
    const first = await start();
    await submit(2, WRONG, first);
    await refusedOf(first, 8);
    const second = await start({ store: { url: `file:${first.folder}` } });
    const [issue] = about((await verdictOf(second)).issues, 'callbacks-refused');
    expect(issue).toMatchObject({ level: 'failing', params: { source: 'intake', refused: 8 } });
    await until(async () =>
      /^transcript_receiver_issues\{code="callbacks-refused",level="failing"\} 1$/m.test(
        await (await fetch(`${second.adminUrl}/metrics`)).text(),
      ),
    );
  }),
);

it.concurrent(
  'what is no issue: is one stray request, beside callbacks and without any',
  withServices(async (start) => {
    const service = await start();
    await sendCallback(service, 'id=stray&status=success', '', { 'x-callback-token': 'wrong' }, 'intake');
    await until(async () => (await adminApi(service).get('/health')).body.callbacks?.rejected === 1);
    const { issues } = await verdictOf(service);
    expect(about(issues, 'callbacks-refused')).toEqual([]);
    const { stdout } = await command('doctor', service);
    expect(stdout).toMatch(/^ok {7}callbacks: In the last hour 0 callbacks were accepted/m);
  }),
);

it.concurrent(
  'what is no issue: is a stranger that only `any` admits',
  withServices(async (start) => {
    const folder = await temporaryFolder();
    const settings = {
      store: { url: `file:${folder.path}` },
      sources: { intake: { credentials, allow: ['any'] } },
    };
    const first = await startService(settings);
    for (let n = 0; n < 20; n += 1)
      await sendCallback(first, `id=j${n}&status=success`, '', { 'x-callback-token': 'wrong' }, 'intake');
    await first.stop();
    const second = await start(settings);
    const { callbacks, verdict } = (await adminApi(second).get('/health')).body;
    const { counts } = (await adminApi(second).get('/refusals/counts')).body;
    expect(counts).toMatchObject([{ count: 20 }]);
    expect([callbacks.rejected, about(verdict.issues, 'callbacks-refused')]).toEqual([0, []]);
  }),
);

it.concurrent(
  'the secret from an address that is not admitted counts: the service has a new address, or a balancer hides it',
  withServices(async (start) => {
    const service = await start({ sources: { intake: { credentials, allow: ['192.0.2.1'] } } });
    await submit(2, SECRET, service);
    const issue = await refusedOf(service, 8);
    expect(issue).toMatchObject({ params: { source: 'intake', cause: 'address-refused', refused: 8 } });
  }),
);

it.concurrent(
  'an unknown source counts where the address is admitted by a source',
  withServices(async (start) => {
    const service = await start();
    for (let n = 0; n < 6; n += 1)
      await sendCallback(service, `id=j${n}&status=success`, '{}', JSON_TYPE, 'intaek');
    const issue = await refusedOf(service, 6);
    expect(issue).toMatchObject({ params: { source: null, cause: 'source-unknown', refused: 6 } });
  }),
);

const TRANSCRIPT = { method: 'POST', body: '{}', headers: JSON_TYPE };

it.concurrent.each([
  ['doubles a slash of', '//callbacks/intake', 'POST', 404, null, 'source-unknown'],
  ['leaves its own prefix before', '/transcripts/callbacks/intake', 'POST', 404, null, 'source-unknown'],
  ['cuts off', '/intake', 'PUT', 404, null, 'source-unknown'],
  ['encodes', '/callbacks%2Fintake', 'POST', 404, null, 'source-unknown'],
  ['follows a redirect of, as GET,', '/callbacks/intake', 'GET', 405, 'intake', 'method-not-allowed'],
])(
  'a callback that something in front has changed counts where it %s its path',
  withServices(async (start, _, path, method, status, source, cause) => {
    const service = await start();
    const sent = method === 'GET' ? {} : { ...TRANSCRIPT, method };
    for (let n = 0; n < 6; n += 1) {
      const answer = await fetch(`${service.publicUrl}${path}?id=j${n}&status=success`, sent);
      expect(answer.status).toBe(status);
    }
    const issue = await refusedOf(service, 6);
    expect(issue).toMatchObject({ params: { source, cause, refused: 6 } });
  }),
);

/** What a balancer sends before each request where its PROXY protocol is switched on, and where it speaks TLS to this port. */
const PROXY_HEADER = 'PROXY TCP4 192.0.2.1 192.0.2.2 40000 8080\r\n';
const CLIENT_HELLO = '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03';

it.concurrent.each<[string, string, string, Record<string, unknown>]>([
  ['TLS', CLIENT_HELLO, 'request-malformed', {}],
  ['a PROXY header', PROXY_HEADER, 'proxy-protocol', { trustedProxies: ['127.0.0.0/8', '::1'] }],
])(
  'a callback that is no HTTP counts where the sender or its balancer sends %s',
  withServices(async (start, _, bytes, cause, receiver) => {
    const service = await start({ receiver });
    for (let n = 0; n < 6; n += 1) await sendRaw(service.publicUrl, Buffer.from(bytes, 'latin1'));
    const issue = await refusedOf(service, 6);
    expect(issue).toMatchObject({ level: 'failing', params: { source: null, cause, refused: 6 } });
  }),
);

it.concurrent.each<[string, string, Record<string, unknown>]>([
  [
    'an address that no source admits',
    CLIENT_HELLO,
    { sources: { intake: { credentials, allow: ['192.0.2.1'] } } },
  ],
  [
    'an address that only `any` admits',
    PROXY_HEADER,
    { sources: { intake: { credentials, allow: ['any'] } } },
  ],
  [
    'a trusted proxy, which passes it on',
    CLIENT_HELLO,
    { receiver: { trustedProxies: ['127.0.0.0/8', '::1'] } },
  ],
])(
  'what is no HTTP is no issue from %s',
  withServices(async (start, _, bytes, settings) => {
    const service = await start(settings);
    for (let n = 0; n < 6; n += 1) await sendRaw(service.publicUrl, Buffer.from(bytes, 'latin1'));
    const { refusals } = (await adminApi(service).get('/refusals')).body;
    expect(refusals).toEqual([]);
  }),
);

it.concurrent(
  'a callback that something in front has changed is told from other requests by its query',
  withServices(async (start) => {
    const service = await start();
    for (const path of ['/', '/favicon.ico?id=1', '/callbacks/intake', '/.env?status=a'])
      for (let n = 0; n < 6; n += 1) await fetch(`${service.publicUrl}${path}`);
    const { refusals } = (await adminApi(service).get('/refusals')).body;
    expect(refusals).toEqual([]);
  }),
);

it.concurrent(
  'an authenticated callback that is rejected counts by job',
  withServices(async (start) => {
    const service = await start({ sources: { intake: { credentials, maxBytes: '1KiB' } } });
    const token = { ...JSON_TYPE, 'x-callback-token': 'correct-horse-battery-staple' };
    for (let n = 0; n < 10; n += 1)
      await sendCallback(service, `id=j${n % 5}&status=success`, 'x'.repeat(2000), token, 'intake');
    const issue = await refusedOf(service, 5);
    expect(issue).toMatchObject({
      level: 'failing',
      params: { source: 'intake', cause: 'body-too-large', unit: 'jobs', refused: 5, accepted: 0 },
    });
  }),
);

it.concurrent(
  'a restart under load is not red while the service still tries',
  withServices(async (start) => {
    const service = await start();
    const lines = Array.from({ length: 20 }, (_, n) =>
      ledgerLine({
        ...{ receivedAt: new Date().toISOString(), source: 'intake', jobId: `j${n}` },
        ...{ outcome: 'refused', reason: 'draining' },
      }),
    );
    await appendLines(service.folder, lines);
    await until(async () => (await adminApi(service).get('/failures')).body.counts.refused === 20);
    const { level, issues } = await verdictOf(service);
    expect(level).toBe('warning');
    expect([about(issues, 'jobs-failing'), about(issues, 'callbacks-refused')]).toEqual([[], []]);
    expect((await command('status', service)).code).toBe(1);
  }),
);
