import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { formatPretty } from '../../../src/observe/format-pretty.js';
import { createLogger, type LoggerOptions } from '../../../src/observe/logger.js';
import { until } from '../../support/until.js';

function capture(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const log = createLogger({
    level: 'info',
    destination: { write: (line: string) => void lines.push(line) },
    ...options,
  });
  return { log, lines, text: () => lines.join('') };
}

describe('logger', () => {
  it('writes one JSON object per line with level by name, ISO time and replica', () => {
    const { log, lines } = capture({ replica: 'pod-1' });
    log.info({ event: 'delivery', jobId: 'j1' }, 'delivered');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      replica: 'pod-1',
      event: 'delivery',
      jobId: 'j1',
      msg: 'delivered',
    });
  });

  it('never writes fields that hold secrets or bodies', () => {
    const { log, text } = capture();
    log.info({ headers: { 'x-token': 'secret-1' }, authorization: 'secret-2', body: 'secret-3' });
    log.info({ request: { headers: { a: 'secret-4' }, token: 'secret-5', body: 'secret-6' } });
    log.info({ speech: { apiKey: 'secret-7' }, key_value: 'secret-8' });
    expect(text()).not.toMatch(/secret-\d/);
  });

  it.each([
    ['a bearer token in a message', 'sent Authorization: Bearer abcdef123456=='],
    ['a bearer token in other case', 'authorization: bearer abcdef123456'],
    ['a temporary key in an address', 'GET wss://host/v2?jwt=abcdef123456&x=1'],
    ['a token parameter', '/?token=abcdef123456'],
    ['a signed address', 'https://b/k?X-Amz-Signature=abcdef123456&X-Amz-Date=1'],
    ['a naked JWT', 'key eyJhbGciOiJIUzI1NiJ9.abcdef123456.sig'],
  ])('cuts out %s', (_name, message) => {
    const { log, text } = capture();
    log.info(message);
    log.error(new Error(message), 'failed');
    expect(text()).toContain('[redacted]');
    expect(text()).not.toContain('abcdef123456');
  });

  it.each(['s3cr"et\\value', 'with space/and?more', 'caf\u00e9-\u{1f600}-key', 'a.*+b()c', 'lone\ud800half'])(
    'cuts out the configured secret %j wherever it stands',
    (secret) => {
      const { log, text } = capture({ secrets: [secret, 'other-secret'] });
      log.info({
        reason: `got ${secret}`,
        url: `/x?k=${encodeURIComponent(Buffer.from(secret).toString())}`,
      });
      const line = JSON.parse(text()) as { reason: string; url: string };
      expect(line).toMatchObject({ reason: 'got [redacted]', url: '/x?k=[redacted]' });
    },
  );

  it('leaves lines without secrets as they are', () => {
    const { log, text } = capture({ secrets: ['hunter22'] });
    log.info({ clientIp: '40.74.41.91', url: '/callbacks/default?id=j&status=success' }, 'basic auth is off');
    expect(text()).not.toContain('[redacted]');
  });

  it('writes plain text for people on request', () => {
    const { log, text } = capture({ format: formatPretty, secrets: ['hunter22'] });
    log.warn({ key: 'hunter22' }, 'look here');
    expect(text()).toContain('look here');
    expect(text()).not.toContain('hunter22');
    expect(() => JSON.parse(text())).toThrow();
  });
});

/** The time for which the ending process waits for its reader passes with its writes: nearly all of it after each of them. */
const MANY_LINES = `
  import { createLogger } from ${JSON.stringify(pathToFileURL('src/observe/logger.ts').href)};
  const { setTimeout } = globalThis;
  let passed = 0;
  globalThis.setTimeout = (work, ms) => {
    if (ms < 1000) return setTimeout(work, ms);
    let left = ms;
    const pass = () => {
      left -= 0.9 * ms;
      passed += 0.9 * ms;
      if (left <= 0) work();
    };
    return {
      refresh() {
        left = ms;
        setImmediate(pass);
      },
    };
  };
  const log = createLogger({ level: 'info' });
  for (let n = 0; n < 10_000; n += 1) log.info({ n, padding: 'x'.repeat(100) });
  setTimeout(() => {
    process.stderr.write('ending');
    log.flush(() => {
      process.stderr.write(' after ' + passed);
      process.exit(0);
    });
  }, 20);
`;

it('is written as a whole before the process ends, also to a reader that is slow', async () => {
  const options = ['--import', './test/support/processes/import-for-tests.mjs', '--input-type=module'];
  const child = spawn(process.execPath, [...options, '--eval', MANY_LINES]);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (words: string) => {
    said += words;
  });
  await once(child.stderr, 'data');
  const written = await text(child.stdout);
  const lines = written.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).n)).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
  await until(() => / after \d/.test(said));
  // Longer than a process waits for a reader that takes nothing.
  expect(Number(said.split(' after ')[1])).toBeGreaterThan(10_000);
});
