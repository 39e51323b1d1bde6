import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ledgerOf, visibleKeys } from '../../support/ledger/ledger-of.js';
import { adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../../support/recovery/lost-jobs.js';
import { startFaultProxy } from '../../support/store/fault-proxy.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

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

const environment = (folder = service.folder) => ({
  NODE_CONFIG: JSON.stringify({
    store: { url: `file:${folder}`, partSize: '64KiB' },
    limits: { memoryBudget: '1MiB', quarantineBytes: '128KiB' },
    sources: SOURCES,
    recovery: { grace: '0s' },
    ...lost.settings,
  }),
});

const cliIn = (folder: string, ...args: string[]) => runCommand(args, environment(folder));
const cli = (...args: string[]) => cliIn(service.folder, ...args);

/** What the last lines of `job` propose, without the name of the program. */
const proposed = (stdout: string) =>
  [...stdout.matchAll(/^ {4}transcript-receiver (.*)$/gm)].map(([, command = '']) => command);

describe('commands about a job', () => {
  /** Extent of an index that has its ledger from the beginning on. */
  const INDEX = { since: null, until: expect.any(String), missing: [] };

  describe('job', () => {
    it('says where a stored transcript is, and ends with 0', async () => {
      await sendCallback(service, 'id=j1&status=success&customer=acme', 'Hello', TEXT);
      const { code, stdout, stderr } = await cli('job', 'j1');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^Job j1: Stored\nThe transcript is stored\.\nContext: customer=acme\n/);
      expect(stdout).toMatch(
        /^ {2}transcript\.txt +5 bytes {2}jobs\/j1\/transcript\.txt {2}sha256 [0-9a-f]{64}$/m,
      );
      expect(stdout).toMatch(/^ {2}\S+Z {2}callback {3}stored$/m);
      expect(stdout).toMatch(/The service does not know this job: /);
      expect(proposed(stdout)).toEqual([]);
    });

    it('waits longer for the service than an open page does', async () => {
      const id = await lost.lose();
      const proxy = await startFaultProxy(lost.simulator.batchUrls.eu1 ?? '');
      proxy.fault = () => ({ kind: 'delay', ms: 2_500 });
      const regions = { eu1: { batchUrl: proxy.url } };
      const speech = { ...(lost.settings.speech as object), regions };
      const settings = { store: { url: `file:${service.folder}` }, sources: SOURCES, speech };
      const { code, stdout } = await runCommand(['job', id], { NODE_CONFIG: JSON.stringify(settings) });
      await proxy.close();
      expect({ code, stdout }).toEqual({ code: 2, stdout: expect.stringMatching(/: Missing\n/) });
    });

    it('says what to do about a body in quarantine, and ends with 2', async () => {
      const { json } = await sendCallback(service, 'id=q1&status=success', '{"broken', {
        'content-type': 'application/json',
      });
      const { code, stdout } = await cli('job', 'q1', '--json');
      expect(code).toBe(2);
      const { state, quarantine, timeline } = JSON.parse(stdout);
      expect(quarantine).toHaveLength(1);
      expect(timeline).toHaveLength(1);
      expect(state).toMatchObject({ tone: 'notice', word: 'In quarantine' });
      expect(state.steps.map(({ command }: { command: string }) => command)).toEqual([
        'transcript-receiver replay release --job q1',
        `transcript-receiver dismiss ${String(json.deliveryId)} --reason <words>`,
      ]);
    });

    it('ends with 1 for a job that nobody knows', async () => {
      const unknown = await cli('job', 'nobody');
      expect(unknown).toMatchObject({ code: 1, stderr: '' });
      expect(unknown.stdout).toMatch(
        /^Job nobody: Unknown\nThis receiver does not know the job, and the service/,
      );
      lost.simulator.faults.add({ kind: 'answer', operation: 'record', status: 500, body: {} });
      expect((await cli('job', 'nobody')).stdout).toContain('The service did not answer for this job.');
      expect(proposed(unknown.stdout)).toEqual(['job <part>', 'reconcile', 'doctor', 'import nobody <file>']);
      expect((await cli('job', ' ')).code).toBe(2);
    });
  });

  describe('job, by something else than its id', () => {
    beforeEach(async () => {
      for (const [id, customer] of [
        ['abc123', 'acme'],
        ['abd456', 'acme'],
        ['xyz789', 'Globex-7'],
        ['qrs000', '7'],
      ])
        await sendCallback(service, `id=${id}&status=success&customer=${customer}`, 'Hello', TEXT);
    });

    it('is found by a part of the id, a value of the context or a part of it, a context as filters have it, and pasted text', async () => {
      for (const [text, id] of [
        ['BC12', 'abc123'],
        ['Globex-7', 'xyz789'],
        ['7', 'qrs000'],
        ['customer=Globex-7', 'xyz789'],
        ['globex', 'xyz789'],
        [' xyz789 ', 'xyz789'],
        ['lobex-7\n', 'xyz789'],
      ] as const) {
        const { stdout } = await cli('job', text);
        const { body } = await adminApi(service).get(`/jobs?text=${encodeURIComponent(text)}`);
        const found = body.jobs.map(({ jobId }: { jobId: string }) => jobId);
        expect([text, stdout, found]).toEqual([
          text,
          expect.stringMatching(new RegExp(`^Job ${id}: Stored`)),
          [id],
        ]);
      }
    });

    it('is listed with the others that fit', async () => {
      const { code, stdout } = await cli('job', 'acme');
      expect(code).toBe(1);
      expect(stdout).toMatch(
        /^No job has the id acme. It fits these jobs:\n.* abd456 {2}customer=acme\n.* abc123 /,
      );
      const api = adminApi(service);
      expect((await api.get('/jobs?text=acme')).body).toMatchObject({
        more: false,
        index: INDEX,
        jobs: [{ by: 'context' }, {}],
      });
      expect((await api.get('/jobs?text=ab')).body).toMatchObject({ jobs: [] });
      expect((await api.get('/jobs?text=+')).status).toBe(400);
      expect((await api.get('/jobs?text=nothing')).body).toMatchObject({
        jobs: [],
        more: false,
        index: INDEX,
      });
    });

    it('is listed as erased once it was erased', async () => {
      await cli('erase', 'abc123', '--yes');
      const { stdout } = await cli('job', 'customer=acme');
      expect(stdout).toMatch(/ erased +abc123 .*\n.* stored +abd456 /);
    });

    it('proposes no command with an id that no job can have', async () => {
      const { code, stdout } = await cli('job', 'CALL 1107');
      expect(code).toBe(1);
      expect(proposed(stdout)).toEqual(['job <part>', 'reconcile', 'doctor']);
    });

    it('says that more may match than are listed', async () => {
      for (let index = 0; index < 21; index += 1)
        await sendCallback(service, `id=many${index}&status=success&customer=busy`, 'Hello', TEXT);
      for (const text of ['busy', 'many']) {
        const { body } = await adminApi(service).get(`/jobs?text=${text}`);
        expect([body.jobs.length, body.more]).toEqual([20, true]);
      }
      expect((await cli('job', 'busy')).stdout).toContain('These are 20; more may match.');
    });
  });

  describe('import', () => {
    it('stores files by their content, and keeps other bytes as a conflict', async () => {
      const folder = await temporaryFolder();
      const file = path.join(folder.path, 'words.txt');
      await writeFile(file, 'Hello');
      const first = await cli('import', 'i1', file, '--kind', 'transcript.txt', '--reason', 'by mail');
      expect(first).toMatchObject({ code: 0, stderr: '' });
      expect(first.stdout).toMatch(/^i1: stored\n {2}created +transcript\.txt {2}5 bytes {2}jobs\/i1\//);
      expect(await ledgerOf(service.folder)).toContainEqual(
        expect.objectContaining({ origin: 'import', actor: 'command-line', reason: 'by mail', jobId: 'i1' }),
      );
      await writeFile(file, 'Other');
      const second = await cli('import', 'i1', file, '--kind', 'transcript.txt');
      expect(second).toMatchObject({ code: 4, stdout: expect.stringMatching(/^i1: conflict\n/) });
      expect(await visibleKeys(service.folder, 'jobs/i1/')).toHaveLength(2);
      const json = path.join(folder.path, 'transcript.json');
      await writeFile(json, '{"format":"2.9","job":{"id":"i2"},"results":[]}');
      const foreign = await cli('import', 'i3', json);
      expect(foreign).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/is of the job "i2": import it/),
      });
      expect(await visibleKeys(service.folder, 'jobs/i3/')).toEqual([]);
      expect(await cli('import', 'i2', json)).toMatchObject({ code: 0 });
      expect(await cli('import', 'i3', json, '--other-job')).toMatchObject({ code: 0 });
      const missing = await cli('import', 'i1', path.join(folder.path, 'none'));
      expect(missing).toMatchObject({ code: 2, stderr: expect.stringMatching(/is not a readable file/) });
      await folder.remove();
    });
  });

  describe('deliveries', () => {
    it('lists by the filters of the page, as a table, JSON and CSV', async () => {
      await sendCallback(service, 'id=d1&status=success&customer=acme', 'Hello', TEXT);
      await sendCallback(service, 'id=d2&status=success', 'Hello', TEXT);
      const table = await cli('deliveries');
      expect(table).toMatchObject({ code: 0, stderr: '' });
      expect(table.stdout).toMatch(
        /^RECEIVED .*\n\S+Z +stored +callback +default +success +d2 +-\n.* d1 +-\n$/,
      );
      const filtered = await cli('deliveries', '--context', 'customer=acme', '--since', '1h', '--json');
      expect(JSON.parse(filtered.stdout)).toMatchObject({ deliveries: [{ jobId: 'd1' }], index: INDEX });
      const cut = await cli('deliveries', '--limit', '1');
      expect(cut).toMatchObject({ code: 0, stderr: expect.stringMatching(/older deliveries match as well/) });
      for (const wrong of [
        ['--source', 'misspelt'],
        ['--since', '1h', '--until', '2h'],
      ])
        expect(await cli('deliveries', ...wrong, '--json')).toMatchObject({ code: 2, stdout: '' });
      expect(await cli('deliveries', '--job', 'none')).toMatchObject({ stdout: 'No delivery matches.\n' });
    });

    it('exports all that match, more than a table shows, or fails', async () => {
      for (let n = 0; n < 60; n += 1)
        await sendCallback(service, `id=d${n}&status=success&customer=acme`, 'Hello', TEXT);
      const asked = ['deliveries', '--context', 'customer=acme', '--since', '7d'];
      const csv = await cli(...asked, '--csv');
      expect(csv).toMatchObject({ code: 0, stderr: '' });
      expect(csv.stdout.split('\r\n')).toHaveLength(62);
      expect(csv.stdout).toMatch(/^receivedAt,jobId,.*,customer\r\n.*,d59,stored,.*,acme\r\n/);
      const json = await cli(...asked, '--json');
      expect(json).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(json.stdout)).toMatchObject({ index: INDEX });
      expect(JSON.parse(json.stdout).deliveries).toHaveLength(60);
      const none = await cli('deliveries', '--job', 'none', '--json');
      expect(JSON.parse(none.stdout)).toEqual({ deliveries: [], index: INDEX });
      for (const form of ['--csv', '--json']) {
        const cut = await cli(...asked, form, '--limit', '59');
        expect(cut).toMatchObject({ code: 4, stderr: expect.stringMatching(/not whole: more than 59/) });
        expect(await cli(...asked, form, '--limit', '60')).toMatchObject({ code: 0, stderr: '' });
      }
    });
  });
});

describe('the story of a job', () => {
  /* What people are told about a job that was rejected, lost, erased or too large, from its beginning to its end. */

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
      expect(before.stdout).toMatch(
        /: No transcript\nThe service rejected the job: there is no transcript\./,
      );
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
      expect((await cli('reconcile', '--since', '7d')).stdout).not.toMatch(/without a transcript/);
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
      expect(api.body.lost).toMatchObject([
        { key: `jobs/${id}/transcript.json`, kind: 'transcript.json-v2' },
      ]);
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
      expect(found.stdout).toMatch(/If artefacts are still missing or damaged/);
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
        const answer = await fetch(url, {
          method: 'POST',
          headers: TEXT,
          body,
          duplex: 'half',
        } as RequestInit);
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
});
