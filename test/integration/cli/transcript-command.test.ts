import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { accessLinesOf } from '../../support/ledger/ledger-of.js';
import { adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { PROGRAM_ENVIRONMENT } from '../../support/processes/program-environment.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const BINARY = path.resolve('dist/main.js');
const TEXT = { 'content-type': 'text/plain' };
const JSON_TYPE = { 'content-type': 'application/json' };
const SRT = '1\n00:00:01,000 --> 00:00:02,000\nHello\n';
const JSON_V2 = '{"format":"2.9","job":{"id":"j1"},"results":[]}';

let service: RunningService;
let out: Awaited<ReturnType<typeof temporaryFolder>>;

beforeEach(async () => {
  service = await startService();
  out = await temporaryFolder();
});

afterEach(async () => {
  await service.stop();
  await out.remove();
});

const environment = () => ({
  NODE_CONFIG: JSON.stringify({
    store: { url: `file:${service.folder}`, partSize: '64KiB' },
    limits: { memoryBudget: '1MiB', quarantineBytes: '128KiB' },
  }),
});

const transcript = (...args: string[]) => runCommand(['transcript', ...args], environment());
const send = (job: string, body: string, headers: Record<string, string> = TEXT) =>
  sendCallback(service, `id=${job}&status=success`, body, headers);

async function reads(): Promise<readonly unknown[]> {
  const lines = await accessLinesOf(service.folder);
  return lines
    .filter(({ outcome }) => outcome === 'read')
    .map(({ origin, actor, jobId, clientIp, items }) => ({
      origin,
      actor,
      jobId,
      clientIp,
      keys: items.map(({ key }) => key),
    }));
}

describe('transcript', () => {
  it('prints the most readable form that is stored, and leaves an access in the ledger', async () => {
    await send('j1', JSON_V2, JSON_TYPE);
    expect(await transcript('j1')).toEqual({ code: 0, stdout: JSON_V2, stderr: '' });
    await send('j1', SRT);
    expect((await transcript('j1')).stdout).toBe(SRT);
    await send('j1', 'Hello');
    expect((await transcript('j1')).stdout).toBe('Hello');
    expect((await transcript('j1', '--kind', 'json-v2')).stdout).toBe(JSON_V2);
    const by = { origin: 'admin', actor: 'command-line', jobId: 'j1', clientIp: null };
    expect(await reads()).toEqual(
      ['json', 'srt', 'txt', 'json'].map((end) => ({ ...by, keys: [`jobs/j1/transcript.${end}`] })),
    );
    const { body } = await adminApi(service).get('/jobs/j1').expect(200);
    expect(body.timeline.filter(({ outcome }: { outcome: string }) => outcome === 'read')).toHaveLength(4);
  });

  it('gives a pipe the exact bytes, also large ones and control characters', async () => {
    const text = `\u001b[31mred\u0000\r\n${'Ünïcode '.repeat(40_000)}`;
    await send('j2', text);
    const child = spawn(process.execPath, [BINARY, 'transcript', 'j2'], {
      env: { ...PROGRAM_ENVIRONMENT, ...environment() },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
    expect(Buffer.concat(chunks).equals(Buffer.from(text))).toBe(true);
  });

  it('saves a new file that only its user may read, and never overwrites one', async () => {
    await send('j3', 'Hello');
    const file = path.join(out.path, 'j3.txt');
    const saved = await transcript('j3', '--output', file);
    expect(saved).toEqual({
      code: 0,
      stdout: `Saved jobs/j3/transcript.txt (5 bytes) as ${file}.\n`,
      stderr: '',
    });
    expect(await readFile(file, 'utf8')).toBe('Hello');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await writeFile(file, 'mine');
    const again = await transcript('j3', '--output', file);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringMatching(/exists already/) });
    expect(await readFile(file, 'utf8')).toBe('mine');
    // Nothing was shown the second time.
    expect(await reads()).toHaveLength(1);
    const json = await transcript('j3', '--json', '--output', path.join(out.path, 'new.txt'));
    expect(JSON.parse(json.stdout)).toMatchObject({ jobId: 'j3', kind: 'transcript.txt', size: 5 });
  });

  it('prints the version that counts, names the others, and prints one by its key', async () => {
    await send('j4', 'first');
    await send('j4', 'second');
    const counting = await transcript('j4');
    expect(counting).toMatchObject({ code: 0, stdout: 'first' });
    const [, other = ''] = /other versions are kept, .*: (\S+)\n/.exec(counting.stderr) ?? [];
    expect(other).toMatch(/^jobs\/j4\/conflicts\/transcript\.txt\./);
    expect(await transcript('j4', '--key', other)).toEqual({ code: 0, stdout: 'second', stderr: '' });
  });

  it('says that there is nothing, which other forms there are, and ends with 1', async () => {
    await send('lost', 'Hello');
    await rm(path.join(service.folder, 'jobs/lost/transcript.txt'));
    await send('srt', SRT);
    for (const job of ['lost', 'nobody'])
      expect(await transcript(job)).toEqual({
        code: 1,
        stdout: '',
        stderr: `No transcript of ${job} was found: transcript-receiver job ${job} says why.\n`,
      });
    const otherForm = await transcript('srt', '--kind', 'txt');
    expect(otherForm).toMatchObject({ code: 1, stdout: '' });
    expect(otherForm.stderr).toContain('srt       --key jobs/srt/transcript.srt\n');
    expect(await reads()).toEqual([]);
  });

  it('says that bytes are not those on record, saves none of them, and ends with 3', async () => {
    await send('j5', 'Hello');
    const key = path.join(service.folder, 'jobs/j5/transcript.txt');
    await chmod(key, 0o600);
    await writeFile(key, 'Jello');
    const file = path.join(out.path, 'j5.txt');
    const { code, stderr } = await transcript('j5', '--output', file);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringMatching(/is damaged: its SHA-256/) });
    await expect(readFile(file)).rejects.toThrow('ENOENT');
  });

  it('ends with 4 when the store cannot be looked at, and with 2 for wrong usage', async () => {
    const gone = { NODE_CONFIG: JSON.stringify({ store: { url: `file:${out.path}/none` } }) };
    expect((await runCommand(['transcript', 'j1'], gone)).code).toBe(4);
    for (const args of [[], ['not an id'], ['j1', '--kind', 'pdf'], ['j1', '--json']])
      expect((await transcript(...args)).code).toBe(2);
  });

  it('shows nothing when the access cannot be recorded', async () => {
    await send('j6', 'Hello');
    const ledger = path.join(service.folder, 'ledger');
    await rm(ledger, { recursive: true });
    await writeFile(ledger, 'in the way');
    try {
      expect(await transcript('j6')).toMatchObject({ code: 4, stdout: '' });
    } finally {
      await rm(ledger);
    }
  });
});
