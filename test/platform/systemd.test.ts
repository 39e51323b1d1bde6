import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { Agent } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { V8_FLAGS } from '../../scripts/v8-flags.mjs';
import { parseConfig } from '../../src/config/config.js';
import { type Balancer, startBalancer } from '../support/http/balancer.js';
import { freePort } from '../support/http/free-port.js';
import { send } from '../support/http/send.js';
import { PROJECT, readProjectFile } from '../support/manifests.js';
import { type ReceiverProcess, startReady } from '../support/processes/receiver-process.js';
import { readUnit } from '../support/systemd-unit.js';
import { until } from '../support/until.js';

/*
 * Without containers, as docs/systemd.md says: the package from `npm pack` in an empty prefix, and two processes with the command,
 * variables and credentials of the template unit, over one file store and behind the shipped haproxy file.
 */

const UNITS: [string, string][] = [
  ['transcript-receiver.service', 'transcript-receiver.service'],
  ['transcript-receiver@.service', 'transcript-receiver@1.service'],
];
const PAGE = readProjectFile('docs/systemd.md');
const SECRETS: Record<string, string> = {
  'admin-token': 'admin-token-of-more-than-20-characters',
  'callback-token': 'callback-token-of-more-than-16-characters',
};

const scratch = mkdtempSync(path.join(os.tmpdir(), 'systemd-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function inScratch(name: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = path.join(scratch, name);
  mkdirSync(folder, { recursive: true });
  for (const [file, content] of Object.entries(files)) writeFileSync(path.join(folder, file), content);
  return folder;
}

describe.each(UNITS)('deploy/systemd/%s', (file, instance) => {
  const unit = readUnit(file, '1');
  const copy = () =>
    path.join(inScratch('units', { [instance]: readProjectFile(`deploy/systemd/${file}`) }), instance);
  const analyze = (...args: string[]) =>
    execFileSync('systemd-analyze', [...args, copy()], { encoding: 'utf8', stdio: 'pipe' });

  it('is a unit that systemd understands', () => {
    expect(analyze('verify')).toBe('');
  });

  it('is exposed as little as the page says', () => {
    expect(PAGE).toMatch(/rates it 1\.3 of 10/);
    // Ends with an error above the threshold, in tenths.
    expect(analyze('security', '--offline=true', '--no-pager', '--threshold=13')).toMatch(/1\.3 OK/);
  });

  it('starts the program that npm installs below /usr/local, with the flags of the image', () => {
    expect(unit.nodeFlags.filter((flag) => !flag.startsWith('--max-old-space-size'))).toEqual([...V8_FLAGS]);
    expect(unit.program).toBe('/usr/local/lib/node_modules/transcript-receiver/dist/main.js');
    expect(unit.command).toEqual(['serve']);
  });

  it('has a folder of its own in which it remembers the store and keeps the index over a restart', () => {
    expect(unit.settings).toMatchObject({
      CacheDirectory: file.includes('@') ? 'transcript-receiver/1' : 'transcript-receiver',
      CacheDirectoryMode: '0700',
    });
  });

  it('leaves room for the drain, and memory for heap and budget', () => {
    const { receiver, limits } = parseConfig({});
    const seconds = Number(/^(\d+)s$/.exec(unit.settings.TimeoutStopSec ?? '')?.[1]);
    expect(seconds * 1000).toBeGreaterThanOrEqual(receiver.drainDelay + receiver.drainDeadline + 10_000);
    const heap = Number(/--max-old-space-size=(\d+)/.exec(unit.nodeFlags.join(' '))?.[1]);
    const memory = Number(/^(\d+)M$/.exec(unit.settings.MemoryMax ?? '')?.[1]);
    expect(memory * 2 ** 20).toBeGreaterThanOrEqual(heap * 2 ** 20 + 2 * limits.memoryBudget);
  });

  it('passes the credentials that the settings of the page name', () => {
    const named = [...PAGE.matchAll(/\$\{credential:([\w-]+)\}"? *\n|Bearer \$\{credential:([\w-]+)\}/g)];
    expect(new Set(named.map(([, token, credential]) => token ?? credential))).toEqual(
      new Set(Object.keys(unit.credentials)),
    );
  });
});

describe('two processes on one host', () => {
  const prefix = path.join(scratch, 'prefix');
  const installed = path.join(prefix, 'lib/node_modules/transcript-receiver');
  const store = inScratch('store');
  const processes: ReceiverProcess[] = [];
  let balancer: Balancer;

  beforeAll(async () => {
    const npm = (...args: string[]) =>
      execFileSync('npm', args, { cwd: PROJECT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const [{ filename }] = JSON.parse(
      npm('pack', '--ignore-scripts', '--json', '--pack-destination', scratch),
    ) as [{ filename: string }];
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline'];
    npm(
      'install',
      '--global',
      '--prefix',
      prefix,
      '--ignore-scripts',
      ...quiet,
      path.join(scratch, filename),
    );
    for (const instance of ['1', '2']) processes.push(await startInstance(instance));
    const [first, second] = processes.map(({ publicUrl }) => new URL(publicUrl).host);
    // The two lines of the page stand for any ports.
    const lines = [...PAGE.matchAll(/^ {4}server (\d) 127\.0\.0\.1:1808\1$/gm)].map(([line]) => line.trim());
    expect(lines).toEqual(['server 1 127.0.0.1:18081', 'server 2 127.0.0.1:18082']);
    balancer = await startBalancer('haproxy', {
      replicas: [first ?? '', second ?? ''],
      replace: { 'server a ': 'server 1 ', 'server b ': 'server 2 ' },
    });
  }, 240_000);

  afterAll(async () => {
    await balancer?.stop();
    await Promise.all(processes.map((each) => each.destroy()));
  });

  /** A process as the template says; only places differ, and the ports, which another program of this machine may have. */
  async function startInstance(instance: string): Promise<ReceiverProcess> {
    const unit = readUnit('transcript-receiver@.service', instance);
    expect(Object.keys(unit.credentials)).toEqual(Object.keys(SECRETS));
    expect(unit.environment).toMatchObject({ TR_PORT: `1808${instance}`, TR_ADMIN_PORT: `1809${instance}` });
    const settings = /```yaml\n(receiver:\n[^`]*)```/.exec(PAGE)?.[1] ?? '';
    return startReady(
      {},
      {
        ...unit.environment,
        NODE_CONFIG: '',
        NODE_CONFIG_DIR: inScratch('config', { 'default.yaml': settings }),
        CREDENTIALS_DIRECTORY: inScratch(`credentials-${instance}`, SECRETS),
        TR_STORE_URL: `file:${store}`,
        TR_ALLOW: '127.0.0.0/8',
        TR_PORT: String(await freePort()),
        TR_ADMIN_PORT: String(await freePort()),
      },
      {
        main: unit.program.replace('/usr/local/lib/node_modules/transcript-receiver', installed),
        nodeFlags: unit.nodeFlags.slice(V8_FLAGS.length),
      },
    );
  }

  const names = ['1', '2'].map((instance) => `${os.hostname().split('.')[0]}-${instance}`);

  async function deliver(count: number, prefixOfJobs: string): Promise<number[]> {
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${SECRETS['callback-token']}`,
    };
    const answers = await Promise.all(
      Array.from({ length: count }, (_, index) => {
        const jobId = `${prefixOfJobs}${index}`;
        const body = JSON.stringify({ format: '2.9', job: { id: jobId }, metadata: {}, results: [] });
        return send(balancer.url, {
          path: `/callbacks/default?id=${jobId}&status=success`,
          headers,
          body,
          agent,
        }).answer;
      }),
    );
    agent.destroy();
    return answers.map(({ status }) => status);
  }

  const replicasOfSegments = () =>
    readdirSync(path.join(store, 'ledger'), { recursive: true })
      .map(String)
      .filter((file) => file.endsWith('.ndjson'))
      .map((file) => path.basename(file).slice(27).split('~')[0]);

  it('run the installed command', () => {
    const version = execFileSync(path.join(prefix, 'bin/transcript-receiver'), ['--version'], {
      encoding: 'utf8',
    });
    expect(version.trim()).toBe(JSON.parse(readProjectFile('package.json')).version);
    expect(existsSync(path.join(installed, 'deploy/systemd/transcript-receiver@.service'))).toBe(true);
  });

  it('share the callbacks, each under a name of its own', async () => {
    expect(new Set(await deliver(200, 'first'))).toEqual(new Set([200]));
    expect(new Set(replicasOfSegments())).toEqual(new Set(names));
    expect(processes.map(({ log }) => new Set(log.map(({ replica }) => replica)))).toEqual(
      names.map((name) => new Set([name])),
    );
    for (let index = 0; index < 200; index += 1) {
      const file = path.join(store, `jobs/first${index}/transcript.json`);
      expect(JSON.parse(readFileSync(file, 'utf8')).job.id).toBe(`first${index}`);
    }
  });

  it('have canaries of their own', async () => {
    const canaries = () =>
      readdirSync(path.join(store, '.canary'))
        .filter((name) => !name.startsWith('.'))
        .sort();
    await until(() => names.every((name) => canaries().some((canary) => canary.includes(name))));
    expect(canaries()).toHaveLength(2);
  });

  it('take over from each other: one restarts, and no callback fails', async () => {
    const [first] = processes;
    first?.signal('SIGTERM');
    await until(() => balancer.output().includes('receivers/1 is DOWN'));
    expect(new Set(await deliver(50, 'second'))).toEqual(new Set([200]));
    expect(await first?.ended).toBe(0);
    expect(new Set(await deliver(50, 'third'))).toEqual(new Set([200]));
  });
});
