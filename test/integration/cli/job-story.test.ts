import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ledgerOf, visibleKeys } from '../../support/ledger/ledger-of.js';
import { adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../../support/recovery/lost-jobs.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

/* What people are told about a job that was rejected, lost, erased or too large, from its beginning to its end. */

const TEXT = { 'content-type': 'text/plain' };
const SOURCES = { default: { context: ['customer'], maxBytes: '1KiB' } };

let lost: LostJobs;
let service: RunningService;

beforeEach(async () => {
  lost = await lostJobs();
  service = await startService({ sources: SOURCES });
});

afterEach(async () => {
  await service.stop();
  await lost.simulator.close();
});

const cliIn = (folder: string, ...args: string[]) =>
  runCommand(args, {
    NODE_CONFIG: JSON.stringify({
      store: { url: `file:${folder}`, partSize: '64KiB' },
      limits: { memoryBudget: '1MiB', quarantineBytes: '128KiB' },
      sources: SOURCES,
      recovery: { grace: '0s' },
      ...lost.settings,
    }),
  });
const cli = (...args: string[]) => cliIn(service.folder, ...args);

const proposed = (stdout: string) =>
  [...stdout.matchAll(/^ {4}transcript-receiver (.*)$/gm)].map(([, command = '']) => command);

/** A job that the service rejected, and whose callback was lost. */
async function rejectedJob(): Promise<string> {
  const id = await lost.lose();
  lost.simulator.setStatus(id, 'rejected');
  return id;
}

describe('a rejected job whose callback was lost', () => {
  it('has no transcript before and after it is recorded, by the command that is proposed', async () => {
    const id = await rejectedJob();
    const before = await cli('job', id);
    expect(before).toMatchObject({ code: 2 });
    expect(before.stdout).toMatch(/: No transcript\nThe service rejected the job: there is no transcript\./);
    expect(before.stdout).not.toMatch(/still has|Missing/);
    expect(proposed(before.stdout)).toEqual([`refetch ${id}`]);
    const refetched = await cli('refetch', id);
    expect(refetched).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/the service rejected the job/),
    });
    const after = await cli('job', id);
    expect(after.stdout).toMatch(/: No transcript\nThe service reports error: .* Submit the job again\./);
    expect(after.stdout).toMatch(/recovery +noted by command-line +the service rejected the job/);
    expect(after.stdout).not.toMatch(/already stored/);
  });

  it('is counted by reconcile', async () => {
    await rejectedJob();
    const { stdout } = await cli('reconcile');
    expect(stdout).toMatch(/^ {2}matched +1\n {2,}.*/m);
    expect(stdout).toMatch(/^1 without a transcript, whose callback was lost: that is on record now/m);
    expect((await cli('reconcile', '--full')).stdout).not.toMatch(/without a transcript/);
    expect((await ledgerOf(service.folder)).filter(({ outcome }) => outcome === 'noted')).toHaveLength(1);
  });
});

describe('a transcript that was stored and is gone', () => {
  it('is lost, and comes back by the command that is proposed', async () => {
    const id = await lost.lose();
    await cli('refetch', id);
    await rm(path.join(service.folder, `jobs/${id}`), { recursive: true });
    const { code, stdout } = await cli('job', id);
    expect(code).toBe(2);
    expect(stdout).toMatch(/: Lost\nLost from the store: stored at 2\S+Z, not there now\.\n/);
    expect(stdout).not.toMatch(/Nothing of it|has arrived|submit/i);
    expect(stdout).toMatch(/^ {2}transcript\.json-v2 .* stored 2\S+Z, not there now$/m);
    const steps = proposed(stdout);
    const accept = `acknowledge ${id} --reason <words>`;
    expect(steps).toEqual([`refetch ${id}`, `job ${id}`, `import ${id} <file>`, accept]);
    const api = await adminApi(service).get(`/jobs/${id}`);
    expect(api.body.lost).toMatchObject([{ key: `jobs/${id}/transcript.json`, kind: 'transcript.json-v2' }]);
    await cli(...(steps[0] ?? '').split(' '));
    expect(await cli('job', id)).toMatchObject({ code: 0, stdout: expect.stringMatching(/: Stored\n/) });
  });

  it('is to be restored where the service does not know it any more', async () => {
    await sendCallback(service, 'id=j1&status=success', 'Hello', TEXT);
    await rm(path.join(service.folder, 'jobs/j1/transcript.txt'));
    const { stdout } = await cli('job', 'j1');
    expect(proposed(stdout)).toEqual(['job j1', 'import j1 <file>', 'acknowledge j1 --reason <words>']);
  });
});

describe('a comparison', () => {
  it('that finds the same bytes is in the ledger and in the timeline', async () => {
    const id = await lost.lose();
    await cli('refetch', id);
    expect((await cli('refetch', id, '--again')).stdout).toMatch(/transcript\.json-v2 identical/);
    const line = (await ledgerOf(service.folder)).at(-1);
    expect(line).toMatchObject({ outcome: 'duplicate', items: [{ outcome: 'identical' }] });
    expect((await cli('job', id)).stdout).toMatch(
      /duplicate by command-line +the service has the same bytes/,
    );
  });
});

describe('a transcript that is damaged', () => {
  it('is repaired by the commands that are proposed', async () => {
    const id = await lost.lose();
    await cli('refetch', id);
    const key = path.join(service.folder, `jobs/${id}/transcript.json`);
    const whole = await readFile(key);
    await writeFile(key, whole.toString().replace('"', "'"));
    const found = await cli('verify', '--deep');
    expect(found.stdout).toMatch(/What is missing or damaged after that/);
    expect(found.stdout).toMatch(`\n  transcript-receiver refetch ${id} --again\n`);
    await cli('refetch', id, '--again');
    const [choose = ''] = proposed((await cli('job', id)).stdout);
    await cli(...choose.replace('<words>', 'repaired').split(' '));
    expect(await readFile(key)).toEqual(whole);
    expect(await cli('verify', '--deep')).toMatchObject({ code: 0 });
  });
});

describe('a body that is too large', () => {
  it.each([
    ['with its announced size', 'x'.repeat(2000), { declared: 2000, limit: 1024 }, 'announced 2000 bytes'],
    [
      'without one',
      new Blob(['x'.repeat(2000)]).stream(),
      { declared: null, limit: 1024 },
      'announced no length',
    ],
  ])(
    'is named with the limit, %s, in the ledger, by job and by the state',
    async (_how, body, tooLarge, words) => {
      const url = `${service.publicUrl}/callbacks/default?id=j1&status=success`;
      const answer = await fetch(url, { method: 'POST', headers: TEXT, body, duplex: 'half' } as RequestInit);
      expect(answer.status).toBe(413);
      // On a busy machine a refusal does not wait for its line.
      await until(async () => (await ledgerOf(service.folder)).length > 0);
      expect(await ledgerOf(service.folder)).toMatchObject([{ reason: 'body-too-large', tooLarge }]);
      const { stdout } = await cli('job', 'j1');
      const sizes = `The sender ${words}; the source accepts 1024 bytes (maxBytes).`;
      expect(stdout.split('\n').filter((line) => line.endsWith(sizes))).toHaveLength(2);
    },
  );
});

describe('an erased job, after its store is lost', () => {
  async function eraseAndLose(): Promise<string> {
    const id = await lost.lose();
    await cli('refetch', id);
    expect((await cli('erase', id, '--yes')).code).toBe(0);
    return id;
  }

  it.each([
    ['the marks were copied first', '.erasures'],
    ['the ledger was restored without the marks', 'ledger'],
  ])('is not fetched again where %s', async (_what, restored) => {
    const id = await eraseAndLose();
    const other = await lost.lose();
    const folder = await temporaryFolder();
    await cp(path.join(service.folder, restored), path.join(folder.path, restored), { recursive: true });
    const report = await cliIn(folder.path, 'reconcile', '--since', '7d');
    expect(report).toMatchObject({ code: 0 });
    expect(report.stderr).not.toMatch(/the store is empty/);
    expect(await visibleKeys(folder.path, 'jobs/')).toEqual([`jobs/${other}/transcript.json`]);
    expect((await cliIn(folder.path, 'refetch', id)).stdout).toMatch(/erased here by an operator/);
    await folder.remove();
  });

  it('is warned of before a copy of a store is imported into an empty one', async () => {
    const copy = await temporaryFolder();
    const file = path.join(copy.path, 'jobs/j1/transcript.txt');
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, 'Hello');
    const warned = await cli('import', 'j1', file);
    expect(warned).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/the store is empty\..*copy \.erasures\//),
    });
    expect(await cli('import', 'j1', file)).toMatchObject({ code: 0, stderr: '' });
    await copy.remove();
  });

  it('is not imported from the folder where it was erased, nor where the ledger says so', async () => {
    const id = await eraseAndLose();
    const kept = path.join(service.folder, `jobs/${id}/transcript.txt`);
    await mkdir(path.dirname(kept), { recursive: true });
    await writeFile(kept, 'Hello');
    const folder = await temporaryFolder();
    await cliIn(folder.path, 'reconcile');
    const refused = await cliIn(folder.path, 'import', id, kept);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toMatch(/was erased in the store that the files come from .*not stored again/);
    await rm(path.join(service.folder, '.erasures'), { recursive: true });
    const late = await cli('import', id, kept);
    expect(late).toMatchObject({ code: 2, stderr: expect.stringMatching(/was erased before/) });
    await folder.remove();
  });
});
