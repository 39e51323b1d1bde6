import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

/*
 * The package as npm makes it, in a project that has its dependencies and the types of Node, and nothing else of ours.
 */

const ROOT = path.join(import.meta.dirname, '../..');
const scratch = mkdtempSync(path.join(os.tmpdir(), 'package-'));
const consumer = path.join(scratch, 'consumer');
const installed = path.join(consumer, 'node_modules/transcript-receiver');

const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

let files: string[] = [];

beforeAll(() => {
  // A copy, because packing builds anew, while other tests may use the build.
  const copy = path.join(scratch, 'copy');
  for (const file of run('git', ['ls-files', '--cached', '--others', '--exclude-standard'], ROOT)
    .trim()
    .split('\n'))
    if (existsSync(path.join(ROOT, file)) && !/^(test|bench|docs\/images)\//.test(file))
      cpSync(path.join(ROOT, file), path.join(copy, file));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  run('npm', ['pack', '--silent', '--pack-destination', scratch], copy);
  const { name, version, dependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  mkdirSync(installed, { recursive: true });
  run(
    'tar',
    ['xzf', path.join(scratch, `${name}-${version}.tgz`), '--strip-components=1', '-C', installed],
    scratch,
  );
  for (const dependency of [...Object.keys(dependencies), '@types/node']) {
    const link = path.join(consumer, 'node_modules', dependency);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules', dependency), link);
  }
  writeFileSync(path.join(consumer, 'package.json'), '{"type":"module"}');
  writeFileSync(path.join(consumer, 'main.ts'), MAIN);
  files = run('find', ['.', '-type', 'f'], installed).trim().split('\n');
}, 300_000);

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const MAIN = `import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ReceiverEvent } from 'transcript-receiver/events';
import { CLOSE_CODES, type SessionReport, startSession } from 'transcript-receiver/realtime';
import {
  createSimulator,
  type Fault,
  type RealtimeSimulator,
  type SessionScript,
  startRealtimeSimulator,
} from 'transcript-receiver/simulator';
import { createSpeechClients, type JobRecord } from 'transcript-receiver/speech';

const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.end());
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const { port } = receiver.address() as AddressInfo;

const simulator = await createSimulator({ realtimePort: 0, timeScale: 0.001 });
const fault: Fault = { kind: 'unreachable', attempts: 1 };
simulator.faults.add(fault);
const { id, notified } = simulator.submit({
  config: {
    type: 'transcription',
    notification_config: [{ url: \`http://127.0.0.1:\${port}/\`, contents: ['transcript'] }],
  },
});
const outcomes = await notified;
const clients = createSpeechClients({
  apiKey: simulator.apiKey,
  regions: { eu1: { batchUrl: simulator.batchUrls.eu1 ?? '' } },
});
const record: JobRecord = await clients.jobs('eu1').record(id);
const live: RealtimeSimulator | null = simulator.realtime;
const script: SessionScript = { refuseUpgrade: 503 };
const other = await startRealtimeSimulator({ verifyKey: () => 'ok', script: () => script });
const session = await startSession({
  hosts: { global: simulator.realtimeUrl ?? '' },
  credential: { apiKey: simulator.apiKey },
  audioFormat: { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 },
  transcriptionConfig: { language: 'en' },
});
const report: SessionReport = await session.stream([new Uint8Array(32_000)]);
await Promise.all([clients.close(), simulator.close(), other.close()]);
receiver.close();
const event: Promise<ReceiverEvent> | ReceiverEvent | null = null;
console.log(
  JSON.stringify({
    outcomes,
    status: record.status,
    failures: record.errors?.length,
    complete: report.complete,
    sessions: live?.sessions.length,
    closeCodes: Object.keys(CLOSE_CODES).length > 0,
    event,
  }),
);
`;

describe('the package', () => {
  it('holds every file that its entries name', () => {
    const { exports, bin } = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8'));
    const named = [...Object.values(exports), bin].flatMap((target) =>
      typeof target === 'string' ? [target] : Object.values(target as Record<string, string>),
    );
    expect(named.filter((file) => !existsSync(path.join(installed, file)))).toEqual([]);
  });

  it('brings the licences of the packages that are bundled into it', () => {
    const licences = readFileSync(path.join(installed, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const name of ['@aws-sdk/client-s3', 'express', 'zod']) {
      expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'));
    }
    expect(licences).toContain('Apache License');
    expect(licences).toContain(readFileSync(path.join(ROOT, 'node_modules/express/LICENSE'), 'utf8').trim());
  });

  it('is ASCII where it is bundled, and lets Node load no undici of its own: either takes memory', () => {
    const bundled = files.filter((file) => /^\.\/dist\/(chunks\/)?[^/]+\.js$/.test(file));
    expect(bundled.length).toBeGreaterThan(50);
    const costly = /[^\0-\x7F]|(?:\bfrom |\bimport ?\()['"]node:http['"]/;
    expect(bundled.filter((file) => costly.test(readFileSync(path.join(installed, file), 'utf8')))).toEqual(
      [],
    );
  });

  it('has no source maps, and no reference to one', () => {
    expect(files.length).toBeGreaterThan(300);
    expect(files.filter((file) => file.endsWith('.map'))).toEqual([]);
    const referring = files.filter(
      (file) =>
        /\.(js|d\.ts)$/.test(file) &&
        /^\/\/# sourceMappingURL=(?!data:)/m.test(readFileSync(path.join(installed, file), 'utf8')),
    );
    expect(referring).toEqual([]);
  });

  it.each([
    ['nodenext', ['--module', 'nodenext', '--moduleResolution', 'nodenext']],
    ['bundler', ['--module', 'esnext', '--moduleResolution', 'bundler']],
  ])(
    'type checks in a strict project with moduleResolution %s, its declarations included',
    (_name, options) => {
      const strict = ['--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--types', 'node'];
      const compile = () =>
        run(
          path.join(ROOT, 'node_modules/.bin/tsc'),
          ['--ignoreConfig', '--noEmit', ...strict, ...options, 'main.ts'],
          consumer,
        );
      expect(outputOf(compile)).toBe('');
    },
  );

  it('runs: simulator, jobs client and live session', () => {
    run(
      path.join(ROOT, 'node_modules/.bin/tsc'),
      [
        '--ignoreConfig',
        '--skipLibCheck',
        '--target',
        'es2022',
        '--module',
        'nodenext',
        '--types',
        'node',
        'main.ts',
      ],
      consumer,
    );
    expect(JSON.parse(run(process.execPath, ['main.js'], consumer))).toEqual({
      outcomes: ['delivered'],
      status: 'done',
      failures: 1,
      complete: true,
      sessions: 1,
      closeCodes: true,
      event: null,
    });
  });

  it('has a command that says its version', () => {
    const { version } = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8'));
    expect(run(process.execPath, [path.join(installed, 'dist/main.js'), '--version'], consumer).trim()).toBe(
      version,
    );
  });
});

/** What the compiler printed, whether it failed or not. */
function outputOf(compile: () => string): string {
  try {
    return compile();
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    return `${stdout ?? ''}${stderr ?? ''}` || String(error);
  }
}
