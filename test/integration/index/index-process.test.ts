import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { constants, getPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { fillAll } from '../../../src/index/fill/index-filler.js';
import type { IndexOfStore } from '../../../src/index/fill/open-index-of-store.js';
import { HOUR } from '../../../src/ledger/hours.js';
import { createFileStore } from '../../../src/store/file/file-store.js';
import { writeHour } from '../../support/ledger/file-ledger.js';
import { openIndexAt } from '../../support/ledger/open-index-at.js';
import { runCli } from '../../support/processes/run-cli.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const PROCESS = fileURLToPath(new URL('../../support/processes/index-process.ts', import.meta.url));
const TYPESCRIPT = new URL('../../support/processes/import-for-tests.mjs', import.meta.url).href;
const DAY = 24 * HOUR;
/** The same for all indexes, also when a day ends between them. */
const UNTIL = (Math.ceil(Date.now() / DAY) + 1) * DAY;
const SEGMENTS = 50;
const LINES = 20;

interface Report {
  readonly failure: string | null;
  readonly lines: number;
  readonly until: number | null;
}

describe('the index of a process', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let url: string;
  let path: string;
  let lines: LedgerLine[];
  const children: ChildProcess[] = [];
  const indexes: IndexOfStore[] = [];

  beforeEach(async () => {
    folder = await temporaryFolder();
    path = join(folder.path, 'cache', 'index.sqlite');
    ({ url, lines } = await newStore('store'));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) await kill(child);
    for (const index of indexes.splice(0)) await index.close();
    await folder.remove();
  });

  async function newStore(name: string): Promise<{ url: string; lines: LedgerLine[] }> {
    const directory = join(folder.path, name);
    const store = createFileStore({ directory, partSize: 64 * 1024, fsync: false });
    await store.begin();
    const hour = Math.floor(Date.now() / HOUR) * HOUR;
    const written = await writeHour(store, hour, { segments: SEGMENTS, lines: LINES });
    await store.close();
    return { url: pathToFileURL(directory).href, lines: written };
  }

  async function kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /**
   * Another process that fills the index at the path.
   *
   * @param fileBlocks files can have so many blocks of 512 bytes
   */
  async function start(fileBlocks?: number) {
    const program = ['--import', TYPESCRIPT, PROCESS];
    const limited = `ulimit -f ${fileBlocks ?? 'unlimited'} && exec "$0" "$@"`;
    const stdio: StdioOptions = ['ignore', 'inherit', 'inherit', 'ipc'];
    const child = spawn('sh', ['-c', limited, process.execPath, ...program], { stdio });
    children.push(child);
    await once(child, 'message');
    const first = once(child, 'message');
    child.send({ url, path });
    const [{ place }] = (await first) as [{ readonly place: { path: string | null; cause: string | null } }];
    return { child, place };
  }

  async function report(child: ChildProcess): Promise<Report> {
    return ((await once(child, 'message')) as [Report])[0];
  }

  /** An index in this process. */
  async function openHere(at: string | null = path): Promise<IndexOfStore> {
    const index = await openIndexAt(url, at);
    indexes.push(index);
    await index.opened();
    return index;
  }

  async function answers(index: IndexOfStore) {
    const range = { since: UNTIL - 2 * DAY, until: UNTIL };
    const parts = { begin: range.since, width: DAY, count: 2 };
    const question = { range, parts, by: null, limit: 10, refusals: [], lastSince: UNTIL };
    const { since, missing } = await index.call('state');
    return {
      places: await index.call('findLines', { limit: 10_000 }),
      failing: await index.call('findFailures', {}),
      figures: (await index.call('summarise', question)).buckets.map(({ lines, bytes }) => [lines, bytes]),
      since,
      missing,
    };
  }

  /** What an index answers once it has every line. */
  async function wholeAnswers(index: IndexOfStore) {
    // Filling fails when it meets the damage, and builds the index anew the next time.
    await fillAll(index).catch(() => fillAll(index));
    const whole = await answers(index);
    expect([whole.places.length, whole.since]).toEqual([lines.length, null]);
    return whole;
  }

  it('is whole after any number of kills, and the same as one that was never killed', async () => {
    for (const wait of [20, 120]) {
      const { child } = await start();
      await new Promise((resolve) => setTimeout(resolve, wait));
      await kill(child);
    }
    const index = await openHere();
    expect(index.place()).toEqual({ path, cause: null });
    const found = await wholeAnswers(index);
    expect(found).toEqual(await wholeAnswers(await openHere(join(folder.path, 'fresh.sqlite'))));
    expect(found.failing).toHaveLength(lines.filter(({ outcome }) => outcome === 'failed').length);
  });

  it('is in memory for a second process on the same path, until the first one ends', async () => {
    const first = await start();
    const second = await openHere();
    expect(second.place()).toEqual({ path: null, cause: 'in-use' });
    await wholeAnswers(second);
    while ((await report(first.child)).lines < lines.length);
    await kill(first.child);
    expect((await openHere()).place()).toEqual({ path, cause: null });
  });

  // Elsewhere the priority is that of the whole process.
  (process.platform === 'linux' ? it : it.skip)('has a lower priority than the main thread', async () => {
    await openHere();
    const nices = new Map<string, number>();
    for (const thread of await readdir('/proc/self/task')) {
      // A thread may have ended meanwhile.
      const stat = await readFile(`/proc/self/task/${thread}/stat`, 'utf8').catch(() => null);
      // The nineteenth field (man 5 proc_pid_stat); the second one, in parentheses, may hold blanks.
      if (stat !== null) nices.set(thread, Number(stat.slice(stat.lastIndexOf(')')).split(' ')[17]));
    }
    expect(nices.get(`${process.pid}`)).toBe(getPriority());
    const highest = Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL);
    expect(Math.max(...nices.values())).toBe(highest);
  });

  it('is in memory where its folder cannot be written or is none', async () => {
    await writeFile(join(folder.path, 'file'), '');
    const unwritable = await openHere(join(folder.path, 'file', 'index.sqlite'));
    expect(unwritable.place()).toEqual({ path: null, cause: 'unwritable' });
    expect((await openHere(null)).place()).toEqual({ path: null, cause: 'no-folder' });
    await wholeAnswers(unwritable);
  });

  it('is in memory where a file system takes no folders, which Node would try to create for ever', async () => {
    const NODE_CONFIG = JSON.stringify({ store: { url } });
    let timer: NodeJS.Timeout | undefined;
    const { code } = await runCli(
      ['status'],
      { NODE_CONFIG, XDG_CACHE_HOME: '/proc/none' },
      undefined,
      (kill) => {
        timer = setTimeout(() => kill('SIGKILL'), 15_000);
      },
    );
    clearTimeout(timer);
    expect(code).not.toBeNull();
  });

  it('is built anew where its file is damaged, foreign, or of another store', async () => {
    const first = await openHere();
    const expected = await wholeAnswers(first);
    await first.close();
    const { size } = await stat(path);
    const damages = [
      async () => {
        const file = await open(path, 'r+');
        // Behind what is read when it is opened.
        await file.write(Buffer.alloc(size / 2, 0xa5), 0, size / 2, size / 2);
        await file.close();
      },
      () => writeFile(path, 'no database at all'),
    ];
    for (const damage of damages) {
      await damage();
      const next = await openHere();
      expect(await wholeAnswers(next)).toEqual(expected);
      await next.close();
    }
    ({ url, lines } = await newStore('other'));
    const next = await openHere();
    expect(next.place()).toEqual({ path, cause: null });
    await wholeAnswers(next);
  });

  it('is built anew while it is asked when its file is damaged, and no question fails', async () => {
    const index = await openHere();
    const expected = await wholeAnswers(index);
    const isThere = async () =>
      (await readFile(path).catch(() => null))?.toString('latin1', 0, 6) === 'SQLite';
    for (const each of [path, `${path}-wal`, `${path}-shm`]) {
      const file = await open(each, 'r+');
      await file.write(Buffer.alloc((await file.stat()).size, 0xa5));
      await file.close();
    }
    expect(await isThere()).toBe(false);
    await answers(index);
    expect(await wholeAnswers(index)).toEqual(expected);
    expect(await isThere()).toBe(true);
  });

  it('prints no warning of Node, on none of its lines', async () => {
    const env = { NODE_CONFIG: JSON.stringify({ store: { url }, ledger: { index: { path } } }) };
    expect(await runCli(['deliveries', '--json'], env)).toMatchObject({ code: 0, stderr: '' });
  });

  it('says that the disk is full, lives on, and continues when there is room again', async () => {
    const { child } = await start(320);
    let last = await report(child);
    while (last.failure === null) last = await report(child);
    expect(last.failure).toMatch(/full|disk I\/O error/);
    expect((await report(child)).until).toBeNull();
    await kill(child);
    await wholeAnswers(await openHere());
  });
});
