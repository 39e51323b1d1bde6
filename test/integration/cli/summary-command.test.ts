import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AdminApi, adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { until } from '../../support/until.js';

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

let service: RunningService;
let api: AdminApi;
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

describe('summary', () => {
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

  it('names what it could not count, with 3, and exits with 4 where it could not look', async () => {
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
