import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { constants, getPriority } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { HOUR } from '../../../src/ledger/hours.js';
import { createFileStore } from '../../../src/store/file/file-store.js';
import { writeHour } from '../../support/ledger/file-ledger.js';
import { runCli } from '../../support/processes/run-cli.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const PROCESS = fileURLToPath(new URL('../../support/processes/index-process.ts', import.meta.url));
const TYPESCRIPT = new URL('../../support/processes/import-for-tests.mjs', import.meta.url).href;
const DAY = 24 * HOUR;
/** The same for all processes, also when a day ends between them. */
const UNTIL = (Math.ceil(Date.now() / DAY) + 1) * DAY;
const SEGMENTS = 50;
const LINES = 20;

interface Report {
  readonly failure: string | null;
  readonly answers: {
    readonly places: readonly unknown[];
    readonly failing: readonly unknown[];
    readonly figures: readonly unknown[];
    readonly state: {
      readonly since: number | null;
      readonly until: number | null;
      readonly missing: readonly unknown[];
    };
  } | null;
}

describe('the index of a process', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let url: string;
  let path: string;
  let lines: LedgerLine[];
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    folder = await temporaryFolder();
    path = join(folder.path, 'cache', 'index.sqlite');
    ({ url, lines } = await newStore('store'));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) await kill(child);
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

  /** @param fileBlocks files can have so many blocks of 512 bytes */
  async function start(options: { path: string | null; url?: string }, fileBlocks?: number) {
    const program = ['--import', TYPESCRIPT, PROCESS];
    const limited = `ulimit -f ${fileBlocks ?? 'unlimited'} && exec "$0" "$@"`;
    const stdio: StdioOptions = ['ignore', 'inherit', 'inherit', 'ipc'];
    const child = spawn('sh', ['-c', limited, process.execPath, ...program], { stdio });
    children.push(child);
    await once(child, 'message');
    const first = once(child, 'message');
    child.send({ url, until: UNTIL, ...options });
    const [{ place }] = (await first) as [{ readonly place: { path: string | null; cause: string | null } }];
    return { child, place };
  }

  async function report(child: ChildProcess): Promise<Report> {
    return ((await once(child, 'message')) as [Report])[0];
  }

  /** The first report that has every line. */
  async function wholeReport(child: ChildProcess): Promise<NonNullable<Report['answers']>> {
    for (;;) {
      const { answers } = await report(child);
      if (answers?.places.length === lines.length && answers.state.since === null) return answers;
    }
  }

  it('is whole after any number of kills, and the same as one that was never killed', async () => {
    for (const wait of [20, 60, 120, 250]) {
      const { child } = await start({ path });
      await new Promise((resolve) => setTimeout(resolve, wait));
      await kill(child);
    }
    const { child, place } = await start({ path });
    expect(place).toEqual({ path, cause: null });
    const { state, ...answers } = await wholeReport(child);
    const { state: other, ...fresh } = await wholeReport(
      (await start({ path: join(folder.path, 'fresh.sqlite') })).child,
    );
    expect(answers).toEqual(fresh);
    expect([state.since, state.missing]).toEqual([other.since, other.missing]);
    expect(answers.failing).toHaveLength(lines.filter(({ outcome }) => outcome === 'failed').length);
  });

  it('is in memory for a second process on the same path, until the first one ends', async () => {
    const first = await start({ path });
    const second = await start({ path });
    expect(second.place).toEqual({ path: null, cause: 'in-use' });
    const answers = [await wholeReport(first.child), await wholeReport(second.child)];
    expect(answers[1]?.places).toEqual(answers[0]?.places);
    await kill(first.child);
    expect((await start({ path })).place).toEqual({ path, cause: null });
  });

  // Elsewhere the priority is that of the whole process.
  (process.platform === 'linux' ? it : it.skip)('has a lower priority than the main thread', async () => {
    const { child } = await start({ path });
    const nices = new Map<string, number>();
    for (const thread of await readdir(`/proc/${child.pid}/task`)) {
      // A thread may have ended meanwhile.
      const stat = await readFile(`/proc/${child.pid}/task/${thread}/stat`, 'utf8').catch(() => null);
      // The nineteenth field (man 5 proc_pid_stat); the second one, in parentheses, may hold blanks.
      if (stat !== null) nices.set(thread, Number(stat.slice(stat.lastIndexOf(')')).split(' ')[17]));
    }
    expect(nices.get(`${child.pid}`)).toBe(getPriority());
    const highest = Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL);
    expect(Math.max(...nices.values())).toBe(highest);
  });

  it('is in memory where its folder cannot be written or is none', async () => {
    await writeFile(join(folder.path, 'file'), '');
    const unwritable = await start({ path: join(folder.path, 'file', 'index.sqlite') });
    expect(unwritable.place).toEqual({ path: null, cause: 'unwritable' });
    expect((await start({ path: null })).place).toEqual({ path: null, cause: 'no-folder' });
    await wholeReport(unwritable.child);
  });

  it('is built anew where its file is damaged, foreign, or of another store', async () => {
    const first = await start({ path });
    const { state: _, ...expected } = await wholeReport(first.child);
    await kill(first.child);
    const checkpoint = new DatabaseSync(path);
    checkpoint.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    checkpoint.close();
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
      const next = await start({ path });
      const { state: __, ...answers } = await wholeReport(next.child);
      expect(answers).toEqual(expected);
      await kill(next.child);
    }
    const other = await newStore('other');
    lines = other.lines;
    const next = await start({ path, url: other.url });
    expect(next.place.path).toBe(path);
    await wholeReport(next.child);
  });

  it('is built anew while it is asked when its file is damaged, and no question fails', async () => {
    const { child } = await start({ path });
    const { state: _, ...expected } = await wholeReport(child);
    const isThere = async () =>
      (await readFile(path).catch(() => null))?.toString('latin1', 0, 6) === 'SQLite';
    for (const each of [path, `${path}-wal`, `${path}-shm`]) {
      const file = await open(each, 'r+');
      await file.write(Buffer.alloc((await file.stat()).size, 0xa5));
      await file.close();
    }
    const given: Report['answers'][] = [];
    while (!(await isThere())) given.push((await report(child)).answers);
    const { state: __, ...answers } = await wholeReport(child);
    expect(answers).toEqual(expected);
    expect(given.indexOf(null)).toBe(-1);
  });

  it('prints no warning of Node, on none of its lines', async () => {
    const env = { NODE_CONFIG: JSON.stringify({ store: { url }, ledger: { index: { path } } }) };
    expect(await runCli(['deliveries', '--json'], env)).toMatchObject({ code: 0, stderr: '' });
  });

  it('says that the disk is full, lives on, and continues when there is room again', async () => {
    const { child } = await start({ path }, 320);
    let failure: string | null = null;
    while (failure === null) ({ failure } = await report(child));
    expect(failure).toBe('full');
    const { answers } = await report(child);
    expect(answers?.state.until ?? null).toBeNull();
    await kill(child);
    await wholeReport((await start({ path })).child);
  });
});
