import { cp, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { writeOldLine } from '../../support/ledger/file-ledger.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { type ReceiverProcess, startReady } from '../../support/processes/receiver-process.js';
import { runCommand } from '../../support/processes/run-command.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

const MINE = { mine: { allowUnauthenticated: true, maxBytes: '1KiB' } };

describe('a command beside a receiver of the same user', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let receiver: ReceiverProcess;
  let environment: Record<string, string>;
  let settings: Record<string, unknown>;

  async function start(): Promise<void> {
    receiver = await startReady(settings, environment);
    await until(async () => receiver.log.some(({ event }) => event === 'index'));
  }

  beforeAll(async () => {
    folder = await temporaryFolder();
    settings = { store: { url: `file:${join(folder.path, 'store')}` }, sources: MINE };
    environment = { XDG_CACHE_HOME: folder.path };
    await start();
  });
  afterAll(async () => {
    await receiver.destroy();
    await folder.remove();
  });

  async function send(job: string, text = ''): Promise<void> {
    const url = `${receiver.publicUrl}/callbacks/mine?id=${job}&status=success`;
    const body = JSON.stringify({ format: '2.9', metadata: {}, results: [], text });
    await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  }

  const all = (more: Record<string, unknown> = {}) => ({
    ...environment,
    NODE_CONFIG: JSON.stringify({ ...settings, ...more }),
  });
  const run = (args: string[]) => runCommand(args, all());

  async function jobs(env = all()): Promise<string[]> {
    const { code, stderr, stdout } = await runCommand(['deliveries', '--since', '1d', '--json'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout).deliveries.map(({ jobId }: { jobId: string }) => jobId);
  }

  const files = async () => (await readdir(join(folder.path, 'transcript-receiver'))).sort();
  const fileOf = async (start: string, end: string) => {
    const found = (await files()).find((name) => name.startsWith(start) && name.endsWith(end));
    return join(folder.path, 'transcript-receiver', found ?? 'none');
  };

  it('reads the index of the receiver, with all that was acknowledged before it began', async () => {
    for (let sent = 1; sent <= 5; sent += 1) {
      await send(`job-${sent}`, sent === 1 ? 'a'.repeat(2000) : '');
      expect(await jobs()).toHaveLength(sent);
    }
    expect(JSON.parse((await run(['failures', '--json'])).stdout).counts).toEqual({ refused: 1 });
    expect((await files()).filter((name) => name.startsWith('commands-'))).toEqual([]);
  });

  it('sees what the command before it wrote', async () => {
    await send('large', 'a'.repeat(2000));
    expect((await run(['acknowledge', 'large', '--reason', 'known'])).code).toBe(0);
    const { failures } = JSON.parse((await run(['failures', '--json'])).stdout);
    expect(failures).toEqual([expect.objectContaining({ jobId: 'job-1' })]);
  });

  describe('builds an index', () => {
    beforeEach(async () => {
      for (const name of (await files()).filter((each) => each.startsWith('commands-')))
        await rm(join(folder.path, 'transcript-receiver', name), { recursive: true });
    });

    const expectBuilt = async () => expect(await fileOf('commands-', '.sqlite')).not.toMatch(/none$/);

    it('of its own for what is older than the index of the receiver', async () => {
      await send('new');
      const receivedAt = new Date(Date.now() - 40 * 86_400_000).toISOString();
      await writeOldLine(join(folder.path, 'store'), ledgerLine({ jobId: 'old', receivedAt }));
      const { code, stdout, stderr } = await run(['deliveries', '--since', '41d', '--json']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const { deliveries } = JSON.parse(stdout);
      expect([deliveries[0], deliveries.at(-1)]).toMatchObject([{ jobId: 'new' }, { jobId: 'old' }]);
      expect((await run(['summary', '--since', '41d'])).code).toBe(0);
      const usual = await run(['deliveries', '--since', '30d', '--json']);
      expect({ code: usual.code, stderr: usual.stderr }).toEqual({ code: 0, stderr: '' });
    });

    it('of its own where the receiver has another store under the path of its index', async () => {
      const other = { ...settings, store: { url: `file:${join(folder.path, 'other')}` } };
      const path = await fileOf('index-', '.sqlite');
      const second = await startReady(other, { XDG_CACHE_HOME: join(folder.path, 'second') });
      try {
        await fetch(`${second.publicUrl}/callbacks/mine?id=ours&status=success`, { method: 'POST' });
        expect(await jobs(all({ ...other, ledger: { index: { path } } }))).toEqual(['ours']);
      } finally {
        await second.destroy();
      }
    });

    it('of its own for a copy of the store of the receiver, whose id it has', async () => {
      const copy = join(folder.path, 'copy');
      await cp(join(folder.path, 'store'), copy, { recursive: true, preserveTimestamps: true });
      await send('later');
      expect(await jobs(all({ store: { url: `file:${copy}` } }))).not.toContain('later');
      expect(await jobs()).toContain('later');
    });

    it('of its own where the receiver does not answer, whose index may be old', async () => {
      await send('known');
      await until(async () => (await jobs()).includes('known'));
      await rm(await fileOf('index-', '-asks'), { recursive: true });
      expect(await jobs()).toContain('known');
      await expectBuilt();
    });

    it('that commands share where no receiver runs, and the receiver finds its own free', async () => {
      await send('before');
      receiver.signal('SIGKILL');
      await receiver.ended;
      const withBefore = expect.arrayContaining(['before']);
      expect(await Promise.all([jobs(), jobs()])).toEqual([withBefore, withBefore]);
      await expectBuilt();
      const asking = [jobs(), jobs()];
      await start();
      expect(receiver.log.filter(({ event }) => event === 'index-in-memory')).toEqual([]);
      expect(await Promise.all(asking)).toEqual([withBefore, withBefore]);
    });

    it('of its own beside a receiver of another build', async () => {
      await send('here');
      await jobs();
      const file = new DatabaseSync(await fileOf('index-', '.sqlite'), { timeout: 60_000 });
      const identity = file.prepare(`SELECT value FROM meta WHERE name = 'identity'`).get()?.value ?? null;
      const identify = file.prepare(`UPDATE meta SET value = ? WHERE name = 'identity'`);
      identify.run('another');
      expect(await jobs()).toContain('here');
      await expectBuilt();
      identify.run(identity);
      file.close();
    });

    it('of its own where the file of the receiver is damaged', async () => {
      for (let sent = 0; sent < 100; sent += 1) await send(`more-${sent}`);
      const known = await jobs();
      expect(known).toContain('more-99');
      const file = await open(await fileOf('index-', '.sqlite-wal'), 'r+');
      const { size } = await file.stat();
      await file.write(Buffer.alloc(size - 8192, 0xa5), 0, size - 8192, 8192);
      await file.close();
      expect(await jobs()).toEqual(known);
    });
  });
});
