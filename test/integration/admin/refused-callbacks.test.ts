import { expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { hourAt } from '../../../src/ledger/hours.js';
import { segmentKey } from '../../../src/ledger/segment-key.js';
import type { Issue } from '../../../src/operations/issues/issues.js';
import { createSimulator } from '../../../src/simulator/simulator.js';
import { openStore } from '../../../src/store/open-store.js';
import { rawClient } from '../../support/http/raw-http.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { type AdminApi, adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

/*
 * The light tells of callbacks that are rejected, also when a recovery fetched the results: by the page of any replica, and by
 * `status`, which reads the store alone. The tests run at the same time, each with a service of its own: they wait for counts that are
 * read every five seconds.
 */

const SECRET = 'correct-horse-battery-staple';
const WRONG = 'what-somebody-typed-instead';
/** Requests that make an issue. */
const ENOUGH = 6;
const JSON_TYPE = { 'content-type': 'application/json' };
const credentials = { main: { headers: [`X-Callback-Token: ${SECRET}`] } };

type Start = (settings?: Record<string, unknown>) => Promise<RunningService>;

/** A test with services of its own, which end with it: hooks do not run for concurrent tests. */
function withServices<Row extends unknown[]>(test: (start: Start, ...row: Row) => Promise<void>) {
  return async (...row: Row) => {
    const services: RunningService[] = [];
    const start: Start = async (settings = {}) => {
      const service = await startService({ sources: { intake: { credentials } }, ...settings });
      services.push(service);
      return service;
    };
    try {
      await test(start, ...row);
    } finally {
      for (const { stop } of services.reverse()) await stop();
    }
  };
}

/** A command with the settings of the service, as an operator or a CronJob runs it. */
function command(name: string, { folder }: RunningService, speech: object = {}, ...options: string[]) {
  const settings = {
    store: { url: `file:${folder}` },
    sources: { intake: { credentials } },
    speech,
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

/** Requests with this secret, each for a job of its own. */
async function send(
  count: number,
  secret: string,
  { publicUrl }: RunningService,
  status = 'success',
): Promise<void> {
  for (let n = 0; n < count; n += 1)
    await sendCallback(
      { publicUrl },
      `id=j${n}&status=${status}`,
      '',
      { 'x-callback-token': secret },
      'intake',
    );
}

/** Sends bytes as often as it takes for an issue, and waits for each answer. */
async function sendRaw({ publicUrl }: RunningService, text: string): Promise<void> {
  for (let n = 0; n < ENOUGH; n += 1) {
    const client = await rawClient(publicUrl);
    await client.send(Buffer.from(text, 'latin1'));
    await client.answer();
    client.close();
  }
}

const about = (issues: readonly Issue[], code: string) => issues.filter((issue) => issue.code === code);
const verdictOf = async (service: RunningService) => (await adminApi(service).get('/health')).body.verdict;
/** The issue once it counts all: counts are written within a second, then every ten, and read again after five. */
async function refusedOf(service: RunningService, refused: number, cause?: string) {
  let issue: Issue | undefined;
  await until(async () => {
    const issues = about((await verdictOf(service)).issues, 'callbacks-refused');
    issue = issues.find(({ params }) => cause === undefined || params.cause === cause);
    return issue?.params.refused === refused;
  });
  return issue;
}

it.concurrent(
  'a sender with the wrong secret is failing, by source and cause, also after reconcile fetched everything',
  withServices(async (start) => {
    const simulator = await createSimulator({ seed: 'refused', regions: { eu1: 0 }, timeScale: 0.001 });
    const regions = { eu1: { batchUrl: simulator.batchUrls.eu1 } };
    const speech = { apiKey: simulator.apiKey, regions, maxRequestsPerSecond: 1000 };
    const service = await start({ speech });
    const notification = {
      url: `${service.publicUrl}/callbacks/intake`,
      contents: ['transcript'],
      auth_headers: [`X-Callback-Token: ${WRONG}`],
    };
    const config = { type: 'transcription', notification_config: [notification] };
    const sent = Array.from({ length: 40 }, () => simulator.submit({ words: 20, config }).notified);
    expect(await Promise.all(sent)).toEqual(Array(40).fill(['failed']));
    const { code, stdout } = await command('reconcile', service, speech, '--json');
    await simulator.close();
    expect([code, JSON.parse(stdout).outcomes.recovered]).toEqual([0, 40]);

    await refusedOf(service, 160);
    const { level, issues } = await verdictOf(service);
    expect(level).toBe('failing');
    expect(issues[0]).toMatchObject({
      topic: 'callbacks',
      level: 'failing',
      code: 'callbacks-refused',
      params: { source: 'intake', cause: 'credential-wrong', unit: 'requests', refused: 160, accepted: 0 },
    });
    expect(issues[1]).toMatchObject({
      topic: 'callbacks',
      level: 'failing',
      code: 'callbacks-missed',
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
    await send(8, WRONG, first);
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
    await send(1, WRONG, service);
    await until(async () => (await adminApi(service).get('/health')).body.callbacks?.rejected === 1);
    const { issues } = await verdictOf(service);
    expect(about(issues, 'callbacks-refused')).toEqual([]);
    const { stdout } = await command('doctor', service);
    expect(stdout).toMatch(/^ok {7}callbacks: In the last hour 0 callbacks were accepted/m);
  }),
);

it.concurrent(
  'what is no issue: is a stranger that only `any` admits, who is counted after a restart, for those who may see the source',
  withServices(async (start) => {
    const folder = await temporaryFolder();
    const token = 'token-of-the-clinic-0123456789';
    const settings = {
      store: { url: `file:${folder.path}` },
      sources: {
        intake: { credentials, allow: ['any'] },
        clinic: { credentials, allow: ['any'], keyPrefix: 'clinic/' },
      },
      admin: { tokens: { clinic: { token, may: ['view'], sources: ['clinic'] } } },
    };
    const first = await startService(settings);
    await send(20, WRONG, first);
    await sendCallback(first, 'id=j&status=success', '', { 'x-callback-token': WRONG }, 'clinic');
    await first.stop();
    const second = await start(settings);
    const countsFor = async (api: AdminApi) => (await api.get('/refusals/counts')).body;
    const [intake, clinic] = [
      { source: 'intake', reason: 'credential-wrong', count: 20 },
      { source: 'clinic', reason: 'credential-wrong', count: 1 },
    ];
    expect(await countsFor(adminApi(second))).toMatchObject({ complete: true, counts: [intake, clinic] });
    expect((await countsFor(adminApi(second, token))).counts).toMatchObject([clinic]);
    const { callbacks, verdict } = (await adminApi(second).get('/health')).body;
    expect([callbacks.rejected, about(verdict.issues, 'callbacks-refused')]).toEqual([0, []]);
  }),
);

it.concurrent(
  'the secret from an address that is not admitted counts: the service has a new address, or a balancer hides it; `doctor` does not',
  withServices(async (start) => {
    const service = await start({ sources: { intake: { credentials, allow: ['192.0.2.1'] } } });
    await send(5, SECRET, service, 'doctor');
    await send(8, SECRET, service);
    const issue = await refusedOf(service, 8);
    expect(issue).toMatchObject({ params: { source: 'intake', cause: 'address-refused', refused: 8 } });
  }),
);

/** What a balancer sends before each request where its PROXY protocol is switched on, and where it speaks TLS to this port. */
const PROXY_HEADER = 'PROXY TCP4 192.0.2.1 192.0.2.2 40000 8080\r\n';
const CLIENT_HELLO = '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03';

it.concurrent(
  'a callback counts where something in front has changed its path or method, or speaks TLS: told from other requests by its query',
  withServices(async (start) => {
    const service = await start();
    const ask = async (path: string, sent: RequestInit) => {
      const statuses = new Set<number>();
      for (let n = 0; n < ENOUGH; n += 1)
        statuses.add((await fetch(`${service.publicUrl}${path}`, sent)).status);
      return [...statuses];
    };
    const changed: [path: string, method: string, status: number][] = [
      ['/callbacks/intaek', 'POST', 404],
      ['//callbacks/intake', 'POST', 404],
      ['/transcripts/callbacks/intake', 'POST', 404],
      ['/intake', 'PUT', 404],
      ['/callbacks%2Fintake', 'POST', 404],
      // As after a redirect.
      ['/callbacks/intake', 'GET', 405],
    ];
    for (const [path, method, status] of changed) {
      const sent = method === 'GET' ? {} : { method, body: '{}', headers: JSON_TYPE };
      expect([path, await ask(`${path}?id=j&status=success`, sent)]).toEqual([path, [status]]);
    }
    for (const path of ['/', '/favicon.ico?id=1', '/callbacks/intake', '/.env?status=a']) await ask(path, {});
    // Last: its count is read with all others.
    await sendRaw(service, CLIENT_HELLO);
    await refusedOf(service, ENOUGH, 'tls');
    const issues = about((await verdictOf(service)).issues, 'callbacks-refused');
    const refused = issues.map(({ level, params }) => [level, params.source, params.cause, params.refused]);
    expect(refused.sort()).toEqual([
      ['failing', null, 'source-unknown', 5 * ENOUGH],
      ['failing', null, 'tls', ENOUGH],
      ['failing', 'intake', 'method-not-allowed', ENOUGH],
    ]);
  }),
);

it.concurrent.each<[string, string]>([
  ['proxy-protocol', PROXY_HEADER],
  ['tls', CLIENT_HELLO],
  ['http2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
])(
  'a protocol that a trusted proxy chose counts, and what else is no HTTP does not, which it passes on: %s',
  withServices(async (start, reason, bytes) => {
    const service = await start({ receiver: { trustedProxies: ['127.0.0.0/8', '::1'] } });
    await sendRaw(service, 'GARBAGE\r\n\r\n');
    await sendRaw(service, bytes);
    const issue = await refusedOf(service, ENOUGH, reason);
    expect(issue).toMatchObject({ level: 'failing', params: { source: null } });
    const { refusals } = (await adminApi(service).get('/refusals')).body;
    expect(new Set(refusals.map((refusal: { reason: string }) => refusal.reason))).toEqual(new Set([reason]));
  }),
);

it.concurrent.each<[string, string, string]>([
  ['an address that no source admits', CLIENT_HELLO, '192.0.2.1'],
  ['an address that only `any` admits', PROXY_HEADER, 'any'],
])(
  'what is no HTTP is no issue from %s',
  withServices(async (start, _, bytes, allowed) => {
    const service = await start({ sources: { intake: { credentials, allow: [allowed] } } });
    await sendRaw(service, bytes);
    const { refusals } = (await adminApi(service).get('/refusals')).body;
    expect(refusals).toEqual([]);
  }),
);

it.concurrent(
  'an authenticated callback that is rejected counts by job',
  withServices(async (start) => {
    const service = await start({ sources: { intake: { credentials, maxBytes: '1KiB' } } });
    const token = { ...JSON_TYPE, 'x-callback-token': SECRET };
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
        receivedAt: new Date().toISOString(),
        source: 'intake',
        jobId: `j${n}`,
        outcome: 'refused',
        reason: 'draining',
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
