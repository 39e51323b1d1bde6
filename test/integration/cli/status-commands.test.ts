import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openStore } from '../../../src/store/open-store.js';
import { visibleKeys } from '../../support/ledger/ledger-of.js';
import { type AdminApi, adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { until } from '../../support/until.js';

let service: RunningService;
let api: AdminApi;

describe('status and failures', () => {
  const JSON_TYPE = { 'content-type': 'application/json' };
  const transcript = (content: string) =>
    JSON.stringify({ format: '2.9', metadata: {}, results: [], content });

  beforeEach(async () => {
    service = await startService({ sources: { intake: { maxBytes: '1KiB' } } });
    api = adminApi(service);
  });
  afterEach(() => service.stop());

  const settings = () => ({
    NODE_CONFIG: JSON.stringify({
      store: { url: `file:${service.folder}` },
      sources: { intake: {} },
      recovery: { interval: 'off' },
    }),
  });
  const send = (job: string, content: string) =>
    sendCallback(service, `id=${job}&status=success`, transcript(content), JSON_TYPE, 'intake');

  describe('status on the command line', () => {
    it('gives the verdict of the API from the store alone, with an exit code for each level', async () => {
      await send('fine', 'a');
      await until(async () => (await api.get('/health')).body.ledger.state === 'ready');
      const { body: health } = await api.get('/health');
      const warned = await runCommand(['status', '--json'], settings());
      expect(warned).toMatchObject({ code: 1, stderr: '' });
      const { verdict } = JSON.parse(warned.stdout);
      expect(verdict).toMatchObject({ level: 'warning', issues: [{ code: 'reconcile-not-configured' }] });
      expect(verdict.issues).toEqual(health.verdict.issues);
      await send('large', 'a'.repeat(2000));
      const failing = await runCommand(['status'], settings());
      expect(failing.code).toBe(2);
      expect(failing.stdout).toMatch(
        /^Act now\.\n {2}failing {2}1 job is failing: 1 refused\. It has been open since 20\S+Z\.\n {11}See Failures on the page, or run/,
      );
      expect(failing.stdout).not.toMatch(/Not in the index|Not covered/);
    });

    it('warns before a credential expires without its secret, and says when each was last used', async () => {
      const credentials = (names: string[]) =>
        Object.fromEntries(names.map((name) => [name, { headers: [`X-Token: ${name.repeat(20)}`] }]));
      const sources = { intake: { credentials: credentials(['old', 'new']) } };
      const other = await startService({ sources });
      const token = 'old'.repeat(20);
      await sendCallback(
        other,
        'id=a&status=success',
        transcript('a'),
        { ...JSON_TYPE, 'x-token': token },
        'intake',
      );
      const status = (known: object) =>
        runCommand(['status'], {
          NODE_CONFIG: JSON.stringify({ store: { url: `file:${other.folder}` }, sources: { intake: known } }),
        });
      const expires = new Date(Date.now() + 86_400_000).toISOString();
      const unread = '\u0024{env:NOT_HERE}';
      const old = { headers: [`X-Token: ${unread}`], expires };
      const { stdout } = await status({ credentials: { old, new: { headers: [`X-Token: ${unread}`] } } });
      expect(stdout).toMatch(
        /The credential intake\/old expires at 20\S+Z; it was last used at 20\S+Z\.\n +Submit jobs with new: transcript/,
      );
      expect(stdout).toMatch(/\nintake\/new: not used in the last 7 days\nintake\/old: last used 20\S+Z\n$/);
      const removed = (await status({ credentials: { new: { headers: [`X-Token: ${unread}`] } } })).stdout;
      expect(removed).toMatch(/\nintake\/old: last used 20\S+Z; not in this configuration\n$/);
      const uncovered = (await status({})).stdout;
      await other.stop();
      expect(uncovered).toMatch(/Not covered: when credentials of the receivers expire\./);
    });

    it('says so when no receiver writes to the store', async () => {
      // As of a store that was restored and has no receiver yet.
      await (await openStore({ url: `file:${service.folder}/elsewhere` })).begin();
      const { stdout } = await runCommand(['status'], {
        NODE_CONFIG: JSON.stringify({
          store: { url: `file:${service.folder}/elsewhere` },
          sources: { intake: {} },
        }),
      });
      expect(stdout).toMatch(/No receiver is writing to this store/);
    });

    it('requires action when the store cannot be read', async () => {
      const { code, stdout } = await runCommand(['status'], {
        NODE_CONFIG: JSON.stringify({ store: { url: 's3://some-bucket' }, sources: { intake: {} } }),
        AWS_REGION: '',
        AWS_EC2_METADATA_DISABLED: 'true',
      });
      expect({ code, stdout }).toMatchObject({ code: 2, stdout: expect.stringMatching(/^Act now\./) });
    });
  });

  describe('failures on the command line', () => {
    it('lists failures, by filters and in pages', async () => {
      for (const id of ['one', 'two']) await send(id, 'a'.repeat(2000));
      const all = await runCommand(['failures'], settings());
      expect(all).toMatchObject({ code: 0, stderr: '' });
      expect(all.stdout).toMatch(/^2 jobs are failing: 2 refused\.\n/);
      expect(all.stdout).toMatch(/^Nothing can be refetched: set speech\.apiKey and /m);
      expect(all.stdout).not.toMatch(/replay refetch/);
      expect(all.stdout).toMatch(
        /refused +- +one +20\S+Z +the body was larger than maxBytes of the source\n/,
      );
      expect(all.stdout).toMatch(
        /^2 jobs of intake, refused: the body was larger than .*\n {2}Refetch the job, whatever its size\. For later ones raise maxBytes of the source, and restart\.\n/m,
      );
      const first = JSON.parse((await runCommand(['failures', '--json', '--limit', '1'], settings())).stdout);
      expect(first).toMatchObject({ failures: [{ jobId: 'one' }], counts: { refused: 2 } });
      const rest = await runCommand(['failures', '--json', '--cursor', first.nextCursor], settings());
      expect(JSON.parse(rest.stdout)).toMatchObject({ failures: [{ jobId: 'two' }], nextCursor: null });
      const wrong = await runCommand(['failures', '--outcome', 'faild'], settings());
      expect(wrong).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/"faild" is not known; known are stored/),
      });
      for (const filter of ['--since=2999-01-01T00:00:00Z', '--cause=other']) {
        const none = await runCommand(['failures', filter], settings());
        expect(none.stdout).toMatch(/^No failing job matches, by \d+ ledger lines in file:/);
      }
    });

    it('lists and settles jobs of a source that was removed since', async () => {
      await send('of-intake', 'a'.repeat(2000));
      const { NODE_CONFIG } = settings();
      const removed = { NODE_CONFIG: JSON.stringify({ ...JSON.parse(NODE_CONFIG), sources: { other: {} } }) };
      const cause = ['--cause', 'body-too-large'];
      for (const command of [
        ['failures'],
        ['quarantine'],
        ['replay', 'release', '--dry-run'],
        ['acknowledge', ...cause, '--reason', 'sent again elsewhere'],
      ]) {
        const unknown = await runCommand([...command, '--source', 'nobody'], removed);
        expect([command, unknown.code, unknown.stderr]).toEqual([
          command,
          2,
          expect.stringMatching(/"nobody" is not known/),
        ]);
        expect(await runCommand([...command, '--source', 'intake'], removed)).toMatchObject({
          code: 0,
          stderr: '',
        });
      }
      expect((await runCommand(['failures', ...cause], removed)).stdout).toMatch(/^No failing job matches/);
    });
  });
});

describe('summary', () => {
  /* What was wrong, how many, whose: the command and the API, over callbacks that a receiver took and rejected. */

  const SECRET = 'X-Callback-Token: correct-horse-battery-staple';
  const RIGHT = { 'content-type': 'application/json', 'x-callback-token': 'correct-horse-battery-staple' };
  const WRONG = { ...RIGHT, 'x-callback-token': 'what-somebody-typed-instead' };
  const sources = {
    guarded: { credentials: { main: { headers: [SECRET] } } },
    intake: { context: ['customer'], maxBytes: '1KiB', allowUnauthenticated: true },
  };
  const body = (size = 10) =>
    JSON.stringify({ format: '2.9', metadata: {}, results: [], pad: 'x'.repeat(size) });
  let began: string;

  const command = (...words: string[]) =>
    runCommand(words, {
      NODE_CONFIG: JSON.stringify({
        store: { url: `file:${service.folder}` },
        sources,
        recovery: { interval: 'off' },
      }),
    });

  const summary = (...options: string[]) => command('summary', ...options);

  beforeAll(async () => {
    began = new Date(Date.now() - 60_000).toISOString();
    service = await startService({ sources });
    api = adminApi(service);
    const send = (query: string, size: number, headers: Record<string, string>, source: string) =>
      sendCallback(service, query, body(size), headers, source);
    for (const [job, customer] of [
      ['a1', 'acme'],
      ['a2', 'acme'],
      ['b1', '=bolt'],
    ] as const)
      await send(`id=${job}&status=success&customer=${encodeURIComponent(customer)}`, 10, RIGHT, 'intake');
    await send('id=o1&status=success&customer=a%20b', 10, RIGHT, 'intake');
    await send('id=large&status=success', 2000, RIGHT, 'intake');
    await send('id=good&status=success', 10, RIGHT, 'guarded');
    for (const job of ['w1', 'w2', 'w3']) await send(`id=${job}&status=success`, 10, WRONG, 'guarded');
    expect((await api.delete('/jobs/large?reason=test')).status).toBe(200);
    await until(async () => (await api.get('/summary?by=cause')).body.unrecorded === 3);
  });
  afterAll(() => service.stop());

  it('says in one line what was wrong in an hour, how many, and whose', async () => {
    const until_ = new Date(Date.now() + 60_000).toISOString();
    const found = await summary('--since', began, '--until', until_, '--by', 'cause');
    expect(found).toMatchObject({ code: 0, stderr: '' });
    expect(found.stdout).toContain(`From ${began} until ${until_}:\n  6 deliveries, 9 callbacks.\n`);
    expect(found.stdout).toContain(
      '4 callbacks (44 %) were not answered 2xx, 3 of them before they had a valid credential.',
    );
    expect(found.stdout).toContain('Not among them: 2 acts of operators.');
    expect(found.stdout).toMatch(/^the headers match no credential of the source +guarded +0 +3 +-/m);
    expect(found.stdout).toMatch(/^the body was larger than maxBytes of the source +intake +1 +1 +-/m);
    expect(found.stdout).toMatch(/^nothing was wrong +intake +4 +- +-/m);
  });

  it('is what the list of refused deliveries names for requests that left no line', async () => {
    const { stdout, stderr } = await command('deliveries', '--outcome', 'refused');
    expect(stdout.trim().split('\n')).toHaveLength(2);
    expect(stderr).toContain('are not among these: `transcript-receiver summary --by cause` counts them');
    expect((await command('deliveries', '--outcome', 'stored')).stderr).toBe('');
    expect((await command('deliveries', '--outcome', 'refused', '--json')).stderr).toBe('');
  });

  it('counts by customer for a bill, as the API does, and a spreadsheet takes no value for a formula', async () => {
    const csv = await summary('--since', '1h', '--by', 'context.customer', '--source', 'intake', '--csv');
    expect(csv).toMatchObject({ code: 0, stderr: '' });
    const [head = '', ...rows] = csv.stdout.trim().split('\r\n');
    expect(head).toBe(
      'customer,deliveries,bytes,callbacks,not2xx,missed,p50Ms,p95Ms,p99Ms,maxMs,refused,stored',
    );
    expect(rows.map((row) => row.split(',').slice(0, 5).join(' '))).toEqual([
      `acme 2 ${2 * body().length} 2 0`,
      `'=bolt 1 ${body().length} 1 0`,
      `left out: malformed or repeated 1 ${body().length} 1 0`,
      expect.stringMatching(/^ 1 \d+ 1 1$/),
    ]);
    const json = JSON.parse((await summary('--since', '1h', '--by', 'context.customer', '--json')).stdout);
    const { body: answer } = await api.get('/summary?by=context.customer');
    expect(json.groups).toEqual(answer.groups);
    expect(
      answer.groups.map(({ value, note, lines }: Record<string, unknown>) => [value, note, lines]),
    ).toEqual([
      ['acme', null, 2],
      ['=bolt', null, 1],
      [null, 'omitted', 1],
      [null, null, 2],
    ]);
    const few = await summary('--since', '1h', '--by', 'context.customer', '--limit', '1');
    expect(few.stdout).toMatch(/^acme +2 .*\nno customer +2 .*\nand 2 more +2 /m);
  });

  it('counts by hour with the same filters, each hour of the time', async () => {
    const { body: answer } = await api.get('/summary?by=hour&source=guarded');
    expect(answer.groups.length).toBeGreaterThanOrEqual(24);
    const sums = ['lines', 'callbacks', 'refused'].map((name) =>
      answer.groups.reduce((sum: number, group: Record<string, number>) => sum + (group[name] ?? 0), 0),
    );
    expect(sums).toEqual([1, 4, 3]);
    expect(answer.total).toMatchObject({ lines: 1, callbacks: 4, refused: 3 });
    const { body: chart } = await api.get('/summary?buckets=4&source=guarded');
    expect(chart.total).toMatchObject({ lines: 1, callbacks: 4, refused: 3 });
  });

  it('exits with 1 where nothing was found, and with 2 for what it does not know', async () => {
    const none = await summary('--since', '2026-01-01T00:00:00Z', '--until', '2026-01-02T00:00:00Z');
    expect(none).toMatchObject({ code: 1, stderr: '' });
    expect(none.stdout).toContain('0 deliveries, 0 callbacks.');
    for (const [options, problem] of [
      [['--by', 'colour'], /by: "colour" is not known; known are hour, .*context\.customer/],
      [['--by', 'context.colour'], /context: "colour" is not known; sources admit customer/],
      [['--source', 'other'], /source: "other" is not known/],
      [['--context', 'acme'], /context must be <name>=<value>, such as customer=acme/],
      [['--csv', '--json'], /--csv and --json exclude each other/],
      [['--since', '1h', '--until', '2h'], /since must be before until/],
    ] as const) {
      const wrong = await summary(...options);
      expect([wrong.code, wrong.stdout]).toEqual([2, '']);
      expect(wrong.stderr).toMatch(problem);
    }
    expect((await api.get('/summary?by=colour')).body.code).toBe('request-invalid');
    expect((await api.get('/summary?by=context.colour')).body.code).toBe('request-invalid');
  });

  it('names what it could not count, with 3, and exits with 4 where it could not read', async () => {
    const later = await summary('--since', '1h', '--by', 'hour', '--json');
    expect(later.code).toBe(0);
    const other = await startService({ sources });
    await sendCallback(other, 'id=a&status=success', body(), RIGHT, 'intake');
    const missing = (...options: string[]) =>
      runCommand(['summary', ...options], {
        NODE_CONFIG: JSON.stringify({ store: { url: `file:${other.folder}` }, sources }),
      });
    expect((await missing()).code).toBe(0);
    await other.stop();
    const gone = await missing();
    expect(gone).toMatchObject({ code: 4, stdout: '' });
    expect(gone.stderr).not.toBe('');
    await rm(other.folder, { recursive: true, force: true });
  });
});

describe('commands that ask the index', () => {
  beforeEach(async () => {
    service = await startService();
    for (const id of ['j1', 'j2', 'j3'])
      await sendCallback(service, `id=${id}&status=success`, 'Hello', { 'content-type': 'text/plain' });
  });
  afterEach(() => service.stop());

  const cli = (...args: string[]) =>
    runCommand(args, {
      NODE_CONFIG: JSON.stringify({
        store: { url: `file:${service.folder}` },
        sources: {
          default: {},
          guarded: { credentials: { main: { headers: ['X-T: a-secret-of-sixteen'] } } },
        },
        subscribers: { crm: { url: 'http://127.0.0.1:9/', secrets: [`whsec_${'a'.repeat(32)}`] } },
      }),
    });

  const QUESTIONS = [
    ['deliveries', '--since', '1h'],
    ['deliveries', '--csv'],
    ['failures'],
    ['quarantine'],
    ['summary', '--since', '1h'],
    ['status'],
    ['job', 'j1'],
  ] as const;

  it('say in one sentence which segment is lost, and claim nothing that needs it', async () => {
    const key = (await visibleKeys(service.folder, 'ledger/'))[1] ?? '';
    const sentence = `Not in the index of the ledger: ${key}, which is missing or cannot be read.`;
    const say = async (args: readonly string[]) => {
      const { stdout, stderr } = await cli(...args);
      return stdout + stderr;
    };
    expect(await cli('deliveries')).toMatchObject({ code: 0, stderr: '' });
    for (const [command, none] of [
      ['quarantine', /^No body is waiting\.$/m],
      ['status', /^guarded\/main: not used in the last 7/m],
    ] as const)
      expect(await say([command])).toMatch(none);
    await rm(path.join(service.folder, key));
    const answers = new Map<string, string>();
    for (const args of QUESTIONS) {
      const [command] = args;
      const text = await say(args);
      expect([args, text.split(sentence).length - 1]).toEqual([args, 1]);
      answers.set(command, text);
    }
    for (const [command, unknown] of [
      ['quarantine', /^No body is waiting, as far as is known\.$/m],
      ['status', /^guarded\/main: use unknown$/m],
      ['failures', /^No failing job was found, by 2 ledger lines in /m],
    ] as const)
      expect(answers.get(command)).toMatch(unknown);
    // A sum without it is not whole.
    for (const options of [[], ['--json'], ['--csv']])
      expect(await cli('summary', ...options)).toMatchObject({ code: 3 });
    const { code, stdout } = await cli('deliveries', '--json');
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toEqual({
      deliveries: [expect.objectContaining({ jobId: 'j3' }), expect.objectContaining({ jobId: 'j1' })],
      index: {
        since: null,
        until: expect.any(String),
        missing: [{ key, segments: 1, unreadable: null }],
      },
    });
  });
});
