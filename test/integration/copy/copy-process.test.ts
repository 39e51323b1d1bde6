import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hourAt } from '../../../src/ledger/hours.js';
import { scanLines } from '../../../src/ledger/log/scan-lines.js';
import { segmentKey } from '../../../src/ledger/segment-key.js';
import type { CopyReport } from '../../../src/operations/actions/copy/copy-report.js';
import type { ObjectStore } from '../../../src/store/object-store.js';
import { openStore } from '../../../src/store/open-store.js';
import { writeHour } from '../../support/ledger/file-ledger.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { PROGRAM_ENVIRONMENT } from '../../support/processes/program-environment.js';
import { runCli } from '../../support/processes/run-cli.js';
import { runCommand } from '../../support/processes/run-command.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/* `copy-store` as a process: killed, bounded in memory, over ledgers of hours that are whole and that are not. */

const MAIN = join(import.meta.dirname, '../../../dist/main.js');
const HOUR = 3_600_000;
/** Objects of 12 MiB: with all of them in hand at once a process would have too much. */
const LARGE = 24;
const PLAIN = { contentType: 'application/json', metadata: {} };

let from: Awaited<ReturnType<typeof temporaryFolder>>;
let to: Awaited<ReturnType<typeof temporaryFolder>>;
let store: ObjectStore;

beforeEach(async () => {
  [from, to] = [await temporaryFolder(), await temporaryFolder()];
  store = await openStore({ url: `file:${from.path}`, fsync: false });
});
afterEach(async () => {
  await store.close();
  await from.remove();
  await to.remove();
});

const args = (...more: string[]) => ['copy-store', `file:${from.path}`, `file:${to.path}`, ...more];
const env = (settings: object = {}) => ({ NODE_CONFIG: JSON.stringify(settings) });

/** Kilobytes that a process had in memory at most so far. */
function peakOf(pid: number): number {
  return Number(/VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}

/** For `node --import`: the process kills itself instead of putting one more file than `count` below the folder. */
function killedAt(folder: string, count: number): string {
  const program = `
    import fs from 'node:fs/promises';
    import { syncBuiltinESMExports } from 'node:module';
    const { link } = fs;
    let left = ${count};
    fs.link = (from, to) => {
      if (to.startsWith(${JSON.stringify(folder)}) && left-- === 0) process.kill(process.pid, 'SIGKILL');
      return link(from, to);
    };
    syncBuiltinESMExports();`;
  return `data:text/javascript,${encodeURIComponent(program)}`;
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(join(to.path, folder)).catch(() => []);
}

describe('copy-store as a process', () => {
  it('copies 200 objects and large ones in little memory, and continues after a kill, the erasures first', async () => {
    const count = 200;
    const small = Buffer.alloc(48 * 1024, 'x');
    for (let done = 0; done < count; done += 100)
      await Promise.all(
        Array.from({ length: 100 }, (_, index) => store.create(`jobs/j${done + index}/data`, small, PLAIN)),
      );
    const large = Buffer.alloc(12 * 1024 * 1024, 'y');
    for (let index = 0; index < LARGE; index += 1) {
      const upload = await store.startUpload(`jobs/large${index}/data`, PLAIN);
      await upload.write(large);
      await upload.complete();
    }
    for (let index = 0; index < 50; index += 1) await store.create(`.erasures/e${index}.json`, small, PLAIN);

    const killed = spawn(
      process.execPath,
      ['--import', killedAt(join(to.path, 'jobs'), 60), MAIN, ...args()],
      {
        env: { ...PROGRAM_ENVIRONMENT, ...env() },
        stdio: 'ignore',
      },
    );
    expect(await once(killed, 'exit')).toEqual([null, 'SIGKILL']);
    expect(await namesIn('.erasures')).toHaveLength(50);
    const before = (await namesIn('jobs')).length;
    expect(before).toBeLessThan(count + LARGE);

    const second = spawn(process.execPath, [MAIN, ...args('--json')], {
      env: { ...PROGRAM_ENVIRONMENT, ...env() },
    });
    let peak = 0;
    let output = '';
    second.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const measuring = setInterval(() => {
      peak = Math.max(peak, second.exitCode === null ? peakOf(second.pid ?? 0) : 0);
    }, 20);
    const [code] = await once(second, 'close');
    clearInterval(measuring);
    const report = JSON.parse(output);
    expect({ code, ...report }).toMatchObject({
      code: 0,
      faultCount: 0,
      verified: count + 50 + LARGE,
      finished: true,
    });
    expect(report.copied + report.there).toBe(count + 50 + LARGE);
    expect(report.there).toBeGreaterThan(50);
    // 288 MB of large objects and 10 MB of small ones; the bytes in hand are bounded by 64 MiB. Without that bound it has 380 MB.
    expect(peak / 1024).toBeLessThan(300);
  }, 600_000);

  it('merges whole hours first, and keeps the place of lines that cannot be merged yet', async () => {
    const start = Math.floor(Date.now() / HOUR) * HOUR;
    await writeHour(store, start - 9 * HOUR, { segments: 3, lines: 2 });
    for (const number of [1, 2])
      for (const writer of ['b', 'a']) {
        const body = Buffer.from(`${JSON.stringify(ledgerLine({ jobId: `${writer}${number}` }))}\n`);
        await store.create(segmentKey({ hour: hourAt(start), writer, number }), body, PLAIN);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    const { code, stdout } = await runCommand(args(), env());
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Merged 1 hour of the ledger in /),
    });
    const copy = await openStore({ url: `file:${to.path}`, fsync: false });
    const original = await placesOf(store, 0, Number.MAX_SAFE_INTEGER);
    expect(original).toHaveLength(10);
    expect(await placesOf(copy, 0, Number.MAX_SAFE_INTEGER)).toEqual(original);
    // The listed time of a copy is later: a range that ends before it still has the line.
    const last = Math.max(...original.map(({ written }) => written));
    expect(await placesOf(copy, start, last)).toEqual(await placesOf(store, start, last));
    await copy.close();
  });

  it('copies a store that it may only read, and says that its hours are not merged', async () => {
    await writeHour(store, Math.floor(Date.now() / HOUR) * HOUR - 9 * HOUR, { segments: 3, lines: 2 });
    await mode(from.path, 0o500);
    try {
      const { code, stdout } = await readOnly(args());
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringMatching(
          /could not be merged in .*The copy has all of its segments, and the order/,
        ),
      });
    } finally {
      await mode(from.path, 0o700);
    }
    const copy = await openStore({ url: `file:${to.path}`, fsync: false });
    const all = [0, Number.MAX_SAFE_INTEGER] as const;
    expect(await placesOf(copy, ...all)).toEqual(await placesOf(store, ...all));
    await copy.close();
  });

  it('copies what is beside folders that cannot be read, names each, and may be served without them only on demand', async () => {
    const hour = hourAt(Math.floor(Date.now() / HOUR) * HOUR - 9 * HOUR);
    await writeHour(store, Math.floor(Date.now() / HOUR) * HOUR - 9 * HOUR, { segments: 3, lines: 2 });
    for (const job of ['j1', 'j2', 'j3']) await store.create(`jobs/${job}/data`, Buffer.from('x'), PLAIN);
    const unreadable = [`ledger/${hour}`, 'jobs/j2/'];
    for (const folder of unreadable) await chmod(join(from.path, folder), 0);
    try {
      const { code, stdout } = await readOnly([...args(), '--json']);
      const { faults, finished } = JSON.parse(stdout) as CopyReport;
      expect({ code, finished, keys: faults.map(({ key }) => key) }).toEqual({
        code: 3,
        finished: false,
        keys: unreadable,
      });
      expect((await readOnly([...args(), '--accept-missing', '--json'])).stdout).toMatch(/"finished": ?true/);
    } finally {
      for (const folder of unreadable) await chmod(join(from.path, folder), 0o700);
    }
    const copy = await openStore({ url: `file:${to.path}`, fsync: false });
    expect(await Array.fromAsync(copy.keys('jobs/'))).toEqual(['jobs/j1/data', 'jobs/j3/data']);
    await copy.close();
    expect((await runCommand(args(), env())).code).toBe(0);
  });

  it('says what is wrong, with the exit code of each', async () => {
    const empty = await temporaryFolder();
    const nothing = await runCommand(['copy-store', `file:${empty.path}`, `file:${to.path}`], env());
    expect(nothing).toMatchObject({ code: 1, stderr: expect.stringContaining('holds nothing to copy') });
    expect(await readdir(to.path)).toEqual([]);
    await store.create('jobs/j1/data', Buffer.from('x'), PLAIN);
    const within = await runCommand(['copy-store', `file:${from.path}`, `file:${from.path}/inside`], env());
    expect(within).toMatchObject({ code: 2, stderr: expect.stringContaining('neither may be inside') });
    const url = await runCommand(['copy-store', from.path, `file:${to.path}`], env());
    expect(url).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('<from> should be file:<directory>'),
    });
    const away = {
      store: {
        s3: {
          endpoint: 'http://127.0.0.1:9',
          region: 'x',
          accessKeyId: 'a',
          secretAccessKey: 'b',
          retries: 0,
        },
      },
    };
    const unreachable = await runCommand(
      ['copy-store', `file:${from.path}`, 's3://bucket/prefix'],
      env(away),
    );
    expect(unreachable).toMatchObject({ code: 4, stderr: expect.stringContaining('cannot be reached') });
    await empty.remove();
  });
});

async function mode(folder: string, bits: number): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  for (const entry of entries) if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), bits);
  await chmod(folder, bits);
}

/** As a user that obeys modes of files: tests may run as root. */
async function readOnly(given: readonly string[]): Promise<{ code: number | null; stdout: string }> {
  if (process.getuid?.() !== 0) return runCli(given, env());
  const obeying = ['setpriv', '--bounding-set=-dac_override,-dac_read_search', process.execPath, MAIN];
  const [command = '', ...options] = [...obeying, ...given];
  const child = spawn(command, options, { env: { ...PROGRAM_ENVIRONMENT, ...env() } });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  const [code] = await once(child, 'close');
  return { code, stdout };
}

async function placesOf(of: ObjectStore, since: number, before: number) {
  const found: {
    readonly written: number;
    readonly writer: string;
    readonly number: number;
    readonly line: number;
  }[] = [];
  const onFault = (reason: string) => {
    throw new Error(reason);
  };
  for await (const { place } of scanLines({
    store: of,
    since,
    until: before,
    onFault,
    onUnreadable: () => undefined,
  }))
    found.push(place);
  return found;
}
