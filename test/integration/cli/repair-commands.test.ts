import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hourFolder } from '../../../src/ledger/hours.js';
import { recordKey } from '../../../src/ledger/ledger-keys.js';
import { recordingServer } from '../../support/http/recording-server.js';
import { writeOldLine } from '../../support/ledger/file-ledger.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { ledgerOf, visibleKeys } from '../../support/ledger/ledger-of.js';
import { adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { runCli } from '../../support/processes/run-cli.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../../support/recovery/lost-jobs.js';
import { until } from '../../support/until.js';

describe('the commands that repair', () => {
  let lost: LostJobs;
  let service: RunningService;
  /** What ends with the test, also when it fails. */
  let running: { stop(): Promise<void> }[];

  beforeEach(async () => {
    lost = await lostJobs();
    running = [{ stop: lost.simulator.close }];
    service = await start({ sources: { default: {} } });
  });

  afterEach(async () => {
    const ended = await Promise.allSettled(running.reverse().map(({ stop }) => stop()));
    expect(ended.filter(({ status }) => status === 'rejected')).toEqual([]);
  });

  async function start(settings: Record<string, unknown>): Promise<RunningService> {
    const started = await startService(settings);
    running.push(started);
    return started;
  }

  async function startSubscriber(answer?: Parameters<typeof recordingServer>[0]) {
    const subscriber = await recordingServer(answer);
    running.push({ stop: subscriber.close });
    return subscriber;
  }

  function cli(args: readonly string[]) {
    const settings = {
      store: { url: `file:${service.folder}`, partSize: '64KiB' },
      limits: { memoryBudget: '1MiB', quarantineBytes: '128KiB' },
      ...lost.settings,
    };
    return runCommand(args, { NODE_CONFIG: JSON.stringify(settings) });
  }

  describe('replay on the command line', () => {
    it('previews, then refetches jobs that the ledger shows as empty', async () => {
      const ids = [await lost.lose(), await lost.lose()];
      for (const id of ids) await sendCallback(service, `id=${id}&status=success`);
      const preview = await cli(['replay', 'refetch', '--outcome', 'noted', '--dry-run', '--json']);
      expect(preview).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(preview.stdout)).toMatchObject({ count: 2, jobs: expect.arrayContaining(ids) });
      expect(await visibleKeys(service.folder, 'replays/')).toEqual([]);
      const done = await cli(['replay', 'refetch', '--since', '1h', '--reason', 'empty callbacks', '--json']);
      expect(done).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(done.stdout)).toMatchObject({
        state: 'done',
        total: 2,
        done: 2,
        outcomes: { recovered: 2 },
        actor: 'command-line',
      });
      expect(await visibleKeys(service.folder, 'jobs/')).toHaveLength(2);
      expect(await ledgerOf(service.folder)).toContainEqual(
        expect.objectContaining({ outcome: 'replayed', actor: 'command-line', reason: 'empty callbacks' }),
      );
    });

    it('lists the quarantine, and dismisses a body with a reason', async () => {
      expect((await cli(['quarantine'])).stdout).toBe('No body is waiting.\n');
      const { json } = await sendCallback(service, 'id=q1&status=success', '{"broken', {
        'content-type': 'application/json',
      });
      const id = String(json.deliveryId);
      const listed = await cli(['quarantine']);
      expect(listed).toMatchObject({ code: 0, stderr: '' });
      expect(listed.stdout).toMatch(/^1 body is waiting\.\n\nDELIVERY/);
      const [row, blank, ...remedies] = listed.stdout.trimEnd().split('\n').slice(3);
      expect(row).toMatch(
        new RegExp(`^${id}  waiting .* q1 +default +the body is declared as JSON but does not parse$`),
      );
      expect([blank, ...remedies]).toEqual([
        '',
        'When the body is declared as JSON but does not parse: Refetch the job.',
        'The commands for one of them: transcript-receiver job <job>',
      ]);
      const because = async (reason: string) => (await cli(['quarantine', '--reason', reason])).stdout;
      expect(await because('json-invalid')).toBe(listed.stdout);
      expect(await because('encoding-corrupt')).toBe('No body is waiting.\n');
      expect((await cli(['dismiss', id])).code).toBe(2);
      expect(await cli(['dismiss', id, '--reason', ' '])).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/--reason is empty/),
      });
      const dismissed = await cli(['dismiss', id, '--reason', 'a test call']);
      expect(dismissed).toMatchObject({ code: 0, stderr: '' });
      expect(dismissed.stdout).toMatch(/is settled: dismissed by command-line at .*: a test call\n$/);
      expect((await cli(['quarantine', '--state', 'all'])).stdout).toMatch(/does not parse\n$/);
      expect(await ledgerOf(service.folder)).toContainEqual(
        expect.objectContaining({
          outcome: 'dismissed',
          jobId: 'q1',
          actor: 'command-line',
          reason: 'a test call',
        }),
      );
      expect((await cli(['quarantine', '--job', 'q1'])).stdout).toBe('No body is waiting.\n');
      const all = JSON.parse((await cli(['quarantine', '--state', 'all', '--json'])).stdout);
      expect(all.quarantine).toEqual([expect.objectContaining({ deliveryId: id, state: 'settled' })]);
      expect((await cli(['status'])).stdout).not.toMatch(/quarantine/);
    });

    it('says what to do about a conflict, and acknowledges it with a reason', async () => {
      const headers = { 'content-type': 'application/json' };
      for (const content of ['{"first":1}', '{"second":2}']) {
        await sendCallback(service, 'id=c1&status=success&contents=data', content, headers);
      }
      const failing = await cli(['failures']);
      expect(failing.stdout).toMatch(/^1 job is failing: 1 conflict\.\n/);
      expect(failing.stdout).toMatch(
        /^1 job of default, conflict: [^,]*\. 20\S+Z\.\n {2}Read both versions .* choose the one that is right\.\n {4}transcript-receiver job <job>\n {2}Or accept it/m,
      );
      expect((await cli(['acknowledge', 'c1', '--reason', ' '])).stderr).toMatch(/--reason is missing/);
      const done = await cli(['acknowledge', 'c1', '--reason', 'the first is right']);
      expect(done).toMatchObject({ code: 0, stderr: '' });
      expect(done.stdout).toMatch(/^c1 is acknowledged by command-line at \S+Z: the first is right\n$/);
      expect((await cli(['failures'])).stdout).toMatch(/^No job is failing/);
      expect(await ledgerOf(service.folder)).toContainEqual(
        expect.objectContaining({ outcome: 'acknowledged', jobId: 'c1', actor: 'command-line' }),
      );
    });

    it('exits with 4 when something stays undone', async () => {
      await sendCallback(service, 'id=q1&status=success', '{"broken', { 'content-type': 'application/json' });
      const result = await cli(['replay', 'release']);
      expect(result.code).toBe(4);
      expect(result.stdout).toMatch(
        /is done: 0 of 1 done, 1 failed\n {2}undecodable +1\n.*refetch <job>\n.*dismiss <id>/,
      );
      // The body waits as before: that is a warning, not a job that fails.
      expect(await cli(['status'])).toMatchObject({ code: 1, stdout: expect.not.stringMatching(/failing/) });
    });

    it('refuses with 2 what it cannot do, and says why', async () => {
      const refused: readonly [readonly string[], RegExp][] = [
        [['replay', 'everything'], /Allowed choices are refetch, release/],
        [['replay', 'refetch'], /needs jobs or at least one filter/],
        [['replay', 'refetch', '--job', '../x'], /is not a job id/],
        [['replay', 'refetch', '--since', 'yesterday'], /--since expects/],
        [['replay', 'notify', '--event', 'x'], /x is no event id/],
        [['replay', 'release', '--source', 'nobody'], /source: "nobody" is not known; known are /],
        [['replay', 'refetch', '--outcome', 'faild'], /"faild" is not known; known are stored, /],
        [['replay', 'refetch', '--region', 'eu9'], /"eu9" is not known; known are au1, /],
        [['dismiss', '01ARZ3NDEKTSV4RRFFQ69G5FAV', '--reason', 'x'], /no body with this id/],
        [['acknowledge', 'nobody', '--reason', 'x'], /the ledger has no line of nobody/],
        [['acknowledge', '../x', '--reason', 'x'], /is not a job id/],
        [['quarantine', '--job', '../x'], /is not a job id/],
        [['quarantine', '--region', 'eu9'], /"eu9" is not known; known are au1, /],
        [['erase', 'not an id'], /is not a job id/],
        [['erase', '--context', 'acme'], /--context must be <name>=<value>, such as customer=acme/],
        [['erase', '--context', 'a=1', '--context', 'a=2'], /a name twice/],
        [['erase'], /name the jobs/],
      ];
      for (const [args, message] of refused) {
        const { code, stderr } = await cli(args);
        expect([args, code, stderr]).toEqual([args, 2, expect.stringMatching(message)]);
      }
    });
  });

  describe('replay notify on the command line', () => {
    it('sends the one event again that --event names', async () => {
      const crm = await startSubscriber();
      const ids: string[] = [];
      for (const job of ['a', 'b', 'c'])
        ids.push(String((await sendCallback(service, `id=${job}&status=success`, 'text')).json.deliveryId));
      const secrets = [`whsec_${Buffer.alloc(32, 'cli').toString('base64')}`];
      const NODE_CONFIG = JSON.stringify({
        store: { url: `file:${service.folder}` },
        subscribers: { crm: { url: crm.url, secrets } },
      });
      const args = ['replay', 'notify', '--subscriber', 'crm', '--event', ids[1] ?? ''];
      expect(await runCommand(args, { NODE_CONFIG })).toMatchObject({ code: 0 });
      expect(crm.requests.map(({ headers }) => headers['webhook-id'])).toEqual([ids[1]]);
      const nothing = ['replay', 'notify', '--subscriber', 'crm', '--dead', '--dry-run'];
      expect(await runCommand(nothing, { NODE_CONFIG })).toMatchObject({
        code: 0,
        stdout: 'No event matches.\n',
      });
    });
  });

  describe('replay of dead events on the command line', () => {
    it('sends them again, and ends the pause of the receiver that sends', async () => {
      let accepts = false;
      const crm = await startSubscriber(() => (accepts ? 200 : 410));
      const secrets = [`whsec_${Buffer.alloc(32, 'cli').toString('base64')}`];
      const subscribed = await start({ subscribers: { crm: { url: crm.url, secrets } } });
      const NODE_CONFIG = JSON.stringify({
        store: { url: `file:${subscribed.folder}` },
        subscribers: { crm: { url: crm.url, secrets } },
      });
      const figures = async () => (await adminApi(subscribed).get('/subscribers')).body.subscribers[0];
      await sendCallback(subscribed, 'id=ends&status=success', 'text');
      await until(async () => (await figures()).dead === 1);
      for (const id of ['new-1', 'new-2']) await sendCallback(subscribed, `id=${id}&status=success`, 'text');
      await until(async () => (await figures()).untried === 2);
      accepts = true;
      const args = ['replay', 'notify', '--subscriber', 'crm', '--dead'];
      expect(await runCommand(args, { NODE_CONFIG })).toMatchObject({ code: 0 });
      await until(async () => (await figures()).sent === 3);
      expect(await figures()).toMatchObject({ dead: 0 });
    });
  });

  describe('replay on the command line without a region', () => {
    it('refuses to refetch with 2, as refetch does', async () => {
      const NODE_CONFIG = JSON.stringify({ store: { url: `file:${service.folder}` } });
      for (const args of [
        ['replay', 'refetch', '--job', 'x'],
        ['refetch', 'x'],
      ]) {
        const result = await runCommand(args, { NODE_CONFIG });
        expect(result).toMatchObject({
          code: 2,
          stdout: '',
          stderr: expect.stringMatching(/No region|no region/),
        });
      }
      expect(await visibleKeys(service.folder, 'replays/')).toEqual([]);
    });
  });
});

describe('the command that erases', () => {
  /* All at the same time, each with a receiver of its own: an erasure takes two seconds. */

  const services: RunningService[] = [];
  afterAll(async () => {
    for (const service of services.reverse()) await service.stop();
  });

  async function start(settings: Record<string, unknown>): Promise<RunningService> {
    const service = await startService(settings);
    services.push(service);
    return service;
  }

  /** A receiver with these settings of its source, and the command on its store. */
  async function begin(source: Record<string, unknown> = {}) {
    const service = await start({ sources: { default: source } });
    const env = {
      NODE_CONFIG: JSON.stringify({ store: { url: `file:${service.folder}`, partSize: '64KiB' } }),
    };
    const cli = (args: readonly string[]) => runCommand(args, env);
    return {
      service,
      cli,
      store: (id: string, context = '') =>
        sendCallback(service, `id=${id}&status=success${context}`, 'hello', { 'content-type': 'text/plain' }),
      pipe: (args: readonly string[], input: string) => runCli(args, env, undefined, () => {}, input),
    };
  }

  describe('erase on the command line', () => {
    it.concurrent('erases and says what', async () => {
      const { service, cli, store } = await begin();
      await store('e1');
      const result = await cli(['erase', 'e1', '--yes', '--reason', 'asked to', '--json']);
      expect(result).toMatchObject({ code: 0, stderr: '' });
      const record = { erasedAt: expect.stringMatching(/^2/), actor: 'command-line', reason: 'asked to' };
      const erased = { artefacts: 1, bytes: 5 };
      expect(JSON.parse(result.stdout)).toMatchObject({ jobId: 'e1', ...record, erased });
      expect(await visibleKeys(service.folder, 'jobs/')).toEqual([]);
      for (const args of [['--yes'], []]) {
        const proof = await cli(['erase', 'e1', ...args]);
        expect(proof).toMatchObject({ code: 0, stderr: '' });
        expect(proof.stdout).toMatch(/^Nothing is left of e1: erased at 2\S+ by command-line: asked to$/m);
      }
    });

    it.concurrent('shows what it would erase, and erases nothing without a terminal and --yes', async () => {
      const { service, cli, store } = await begin();
      await store('e1');
      const result = await cli(['erase', 'e1']);
      expect(result).toMatchObject({ code: 2, stdout: '' });
      expect(result.stderr).toMatch(/e1 {2}1 object, 0 quarantined bodies, 5 bytes/);
      expect(result.stderr).toMatch(/nothing was erased: .*--yes/);
      expect(await visibleKeys(service.folder, 'jobs/')).toHaveLength(1);
    });

    it.concurrent('takes no id about which nothing is known for a job, unless told to', async () => {
      const { service, cli, store } = await begin();
      await store('e1');
      const mistaken = await cli(['erase', 'e1', 'e2', '--yes']);
      expect(mistaken).toMatchObject({ code: 2, stdout: '' });
      expect(mistaken.stderr).toMatch(/nothing is known of e2, so nothing was erased; --unknown/);
      expect(await visibleKeys(service.folder, 'jobs/')).toHaveLength(1);
      const meant = await cli(['erase', 'e2', '--yes', '--unknown']);
      expect(meant).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Erased e2: nothing/) });
      const late = await store('e2');
      expect(late.json).toMatchObject({ outcome: 'noted' });
    });

    it.concurrent('erases a list from standard input', async () => {
      const { service, store, pipe } = await begin();
      for (const id of ['e1', 'e2', 'e3']) await store(id);
      const result = await pipe(['erase', '-', '--yes', '--json'], 'e1\r\n\n  e2 \ne1\n');
      expect(result).toMatchObject({ code: 0, stderr: '' });
      const documents = JSON.parse(`[${result.stdout.replaceAll('\n}\n{', '\n},{')}]`);
      expect(documents.map(({ jobId }: { jobId: string }) => jobId).sort()).toEqual(['e1', 'e2']);
      expect(await visibleKeys(service.folder, 'jobs/')).toEqual([expect.stringMatching(/^jobs\/e3\//)]);
    });

    it.concurrent('erases what lies below the prefix of a source that was removed since', async () => {
      const { service, cli, store } = await begin({ keyPrefix: 'old/' });
      const { folder } = service;
      for (const id of ['e1', 'e2', 'e3']) await store(id);
      const sources = { other: { keyPrefix: 'new/' } };
      const other = await start({ store: { url: `file:${folder}` }, sources });
      const [byCommand, byService] = await Promise.all([
        cli(['erase', 'e1', '--yes']),
        adminApi(other).delete('/jobs/e2'),
      ]);
      expect(byCommand.stdout).toMatch(/^Erased e1: 1 artefact,/);
      expect(byService.body).toMatchObject({ complete: true, erased: { artefacts: 1 } });
      expect(await visibleKeys(folder, 'old/jobs/')).toEqual([expect.stringMatching(/^old\/jobs\/e3\//)]);
    });

    it.concurrent('erases all jobs of a customer, and no others', async () => {
      const { service, cli, store } = await begin({ context: ['customer', 'call'] });
      await store('e1', '&customer=acme&call=1');
      await store('e2', '&customer=acme&call=2');
      await store('e3', '&customer=other&call=1');
      const one = await cli(['erase', '--context', 'customer=acme', '--context', 'call=2']);
      expect(one.stderr).toMatch(/e2 .*\n1 job, 5 bytes/);
      const all = await cli(['erase', '--context', 'customer=acme', '--yes']);
      expect(all.code).toBe(0);
      expect(all.stdout.match(/^Erased e[12]: 1 artefact,/gm)).toHaveLength(2);
      const proof = await cli(['erase', '--context', 'customer=acme']);
      for (const { stdout } of [all, proof])
        expect(stdout).toMatch(
          /\nA job whose callback was lost .* reconcile --since 7d ten minutes after .*\n$/,
        );
      expect(await visibleKeys(service.folder, 'jobs/')).toEqual([expect.stringMatching(/^jobs\/e3\//)]);
      const none = await cli(['erase', '--context', 'customer=nobody', '--yes']);
      expect(none).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^The ledger has no job .*\nA job whose/),
      });
    });

    it.concurrent('erases the jobs of a customer also when only lines are left of them that are older than the index', async () => {
      const { service, cli, store } = await begin();
      const receivedAt = new Date(Date.now() - 40 * 86_400_000).toISOString();
      const context = { customer: 'acme' };
      await writeOldLine(service.folder, ledgerLine({ jobId: 'old', receivedAt, context }));
      const result = await cli(['erase', '--context', 'customer=acme', '--yes']);
      expect(result).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Erased old: nothing/) });
      expect((await store('old')).json).toMatchObject({ outcome: 'noted' });
    });

    it.concurrent('prints the sums of many jobs, and no line of each', async () => {
      const { store, cli } = await begin();
      const ids = Array.from({ length: 21 }, (_, n) => `e${n + 1}`);
      for (const id of ids) await store(id);
      const { stdout } = await cli(['erase', ...ids, '--yes']);
      expect(stdout).toBe('21 jobs erased now: 21 artefacts, 105 bytes\n');
    });

    it.concurrent('names the jobs whose value was left out, which may belong to the customer', async () => {
      const { service, cli, store } = await begin({ context: ['customer'] });
      await store('e1', '&customer=acme');
      await store('e2', '&customer=Acme%20Corp');
      const preview = await cli(['erase', '--context', 'customer=acme']);
      expect(preview.stderr).toMatch(
        /1 job may belong here too, because a value of customer was left out of the context: e2$/m,
      );
      const wrong = await cli(['erase', '--context', 'customer=Acme Corp', '--yes']);
      expect(wrong).toMatchObject({ code: 2, stdout: '' });
      expect(wrong.stderr).toMatch(
        /printable ASCII characters without blanks.* no line has it.*deliveries --context-omitted customer/,
      );
      const found = await cli(['deliveries', '--context-omitted', 'customer', '--json']);
      expect(JSON.parse(found.stdout).deliveries).toMatchObject([{ jobId: 'e2' }]);
      const { stdout } = await cli(['job', 'e2']);
      expect(stdout).toMatch(/^Left out of the context: customer \(not 1 to 128 printable ASCII/m);
      expect(await visibleKeys(service.folder, 'jobs/')).toHaveLength(2);
      for (const customer of ['acme', 'nobody']) {
        const asJson = await cli(['erase', '--context', `customer=${customer}`, '--yes', '--json']);
        expect(asJson.stdout.trim() === '').toBe(customer === 'nobody');
        expect(asJson.stderr).toMatch(
          /^transcript-receiver: 1 job may belong here too, .*: e2\n.* A job whose/m,
        );
      }
    });

    it.concurrent('goes on with what is left, and sums up', async () => {
      const { cli, store } = await begin();
      for (const id of ['e1', 'e2', 'e3']) await store(id);
      expect((await cli(['erase', 'e1', '--yes'])).code).toBe(0);
      const result = await cli(['erase', 'e1', 'e2', 'e3', '--yes']);
      expect(result.code).toBe(0);
      expect(result.stdout.match(/^(Erased|Nothing is left of) e[123]/gm)?.sort()).toEqual([
        'Erased e2',
        'Erased e3',
        'Nothing is left of e1',
      ]);
      expect(result.stdout).toMatch(/^2 jobs erased now: 2 artefacts, 10 bytes; 1 erased before$/m);
    });

    it.concurrent('says that jobs of a customer may be missing when the ledger is damaged', async () => {
      const { service, cli, store } = await begin({ context: ['customer'] });
      await store('e1', '&customer=acme');
      const yesterday = hourFolder(new Date(Date.now() - 86_400_000).toISOString());
      const file = path.join(service.folder, recordKey('ledger/', yesterday, 1));
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, 'no record');
      const result = await cli(['erase', '--context', 'customer=acme', '--yes']);
      expect(result.stdout).toMatch(/^Erased e1: .*\nA job whose .*\nJobs with this context may be missing/s);
      expect(result.code).toBe(4);
    });
  });
});
