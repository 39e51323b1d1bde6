import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { writeOldLine } from '../../support/ledger/file-ledger.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { type ReceiverProcess, startReady } from '../../support/processes/receiver-process.js';
import { runCli } from '../../support/processes/run-cli.js';
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
    folder = await temporaryFolder();
    settings = { store: { url: `file:${join(folder.path, 'store')}` }, sources: MINE };
    environment = { XDG_CACHE_HOME: folder.path };
    receiver = await startReady(settings, environment);
    await until(async () => receiver.log.some(({ event }) => event === 'index'));
  }
  async function stop(): Promise<void> {
    await receiver.destroy();
    await folder.remove();
  }

  async function send(job: string, text = ''): Promise<void> {
    const url = `${receiver.publicUrl}/callbacks/mine?id=${job}&status=success`;
    const body = JSON.stringify({ format: '2.9', metadata: {}, results: [], text });
    await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  }

  const all = () => ({ ...environment, NODE_CONFIG: JSON.stringify(settings) });
  const run = (args: string[]) => runCommand(args, all());

  /** @param command default: in the process that all commands share, one after the other */
  async function jobs(command: typeof runCommand = runCommand): Promise<string[]> {
    const { code, stderr, stdout } = await command(['deliveries', '--json'], all());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout).deliveries.map(({ jobId }: { jobId: string }) => jobId);
  }

  const files = async () => (await readdir(join(folder.path, 'transcript-receiver'))).sort();
  const fileOf = async (start: string, end: string) => {
    const found = (await files()).find((name) => name.startsWith(start) && name.endsWith(end));
    return join(folder.path, 'transcript-receiver', found ?? 'none');
  };

  describe('that is left as it is', () => {
    beforeAll(start);
    afterAll(stop);

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

    it('builds one of its own for what is older than the index of the receiver', async () => {
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
  });

  describe('that ends, or whose index cannot be used', () => {
    beforeEach(start);
    afterEach(stop);

    it('builds one that commands share where no receiver runs, and the receiver finds its own free', async () => {
      await send('before');
      receiver.signal('SIGKILL');
      await receiver.ended;
      expect(await Promise.all([jobs(runCli), jobs(runCli)])).toEqual([['before'], ['before']]);
      expect(await fileOf('commands-', '.sqlite')).not.toMatch(/none$/);
      const asking = [jobs(runCli), jobs(runCli)];
      receiver = await startReady(settings, environment);
      await until(async () => receiver.log.some(({ event }) => event === 'index'));
      expect(receiver.log.filter(({ event }) => event === 'index-in-memory')).toEqual([]);
      expect(await Promise.all(asking)).toEqual([['before'], ['before']]);
    });

    it('builds one of its own beside a receiver of another build', async () => {
      await send('here');
      await jobs();
      const file = new DatabaseSync(await fileOf('index-', '.sqlite'), { timeout: 60_000 });
      file.exec(`UPDATE meta SET value = 'another' WHERE name = 'identity'`);
      file.close();
      expect(await jobs()).toEqual(['here']);
      expect(await fileOf('commands-', '.sqlite')).not.toMatch(/none$/);
    });

    it('builds one of its own where the file of the receiver is damaged', async () => {
      for (let sent = 0; sent < 100; sent += 1) await send(`job-${sent}`);
      expect(await jobs()).toHaveLength(100);
      const file = await open(await fileOf('index-', '.sqlite-wal'), 'r+');
      const { size } = await file.stat();
      await file.write(Buffer.alloc(size - 8192, 0xa5), 0, size - 8192, 8192);
      await file.close();
      expect(await jobs()).toHaveLength(100);
    });

    it('builds one of its own where the receiver has another store under the path of its index', async () => {
      await send('theirs');
      const other = { ...settings, store: { url: `file:${join(folder.path, 'other')}` } };
      const path = await fileOf('index-', '.sqlite');
      const second = await startReady(other, { XDG_CACHE_HOME: join(folder.path, 'second') });
      await fetch(`${second.publicUrl}/callbacks/mine?id=ours&status=success`, { method: 'POST' });
      settings = { ...other, ledger: { index: { path } } };
      expect(await jobs()).toEqual(['ours']);
      await second.destroy();
    });

    it('builds one of its own where the receiver does not answer, whose index may be old', async () => {
      await send('known');
      await until(async () => (await jobs()).length === 1);
      await rm(await fileOf('index-', '-asks'), { recursive: true });
      expect(await jobs()).toEqual(['known']);
      expect(await fileOf('commands-', '.sqlite')).not.toMatch(/none$/);
    });
  });
});
