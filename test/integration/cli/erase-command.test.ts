import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { hourFolder } from '../../../src/ledger/hours.js';
import { recordKey } from '../../../src/ledger/ledger-keys.js';
import { writeOldLine } from '../../support/ledger/file-ledger.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { visibleKeys } from '../../support/ledger/ledger-of.js';
import { adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { runCli } from '../../support/processes/run-cli.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';

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
    ...{ service, cli },
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

  it.concurrent('goes on with what is left, and appends a line for every job to the report', async () => {
    const { service, cli, store } = await begin();
    for (const id of ['e1', 'e2', 'e3']) await store(id);
    expect((await cli(['erase', 'e1', '--yes'])).code).toBe(0);
    const file = path.join(service.folder, '..', `${path.basename(service.folder)}.ndjson`);
    await writeFile(file, '{"jobId":"e1","err');
    const result = await cli(['erase', 'e1', 'e2', 'e3', '--yes', '--report', file]);
    expect(result.code).toBe(0);
    expect(result.stdout.match(/^(Erased|Nothing is left of) e[123]/gm)?.sort()).toEqual([
      'Erased e2',
      'Erased e3',
      'Nothing is left of e1',
    ]);
    expect(result.stdout).toMatch(/^2 jobs erased now: 2 artefacts, 10 bytes; 1 erased before$/m);
    const [torn, ...lines] = (await readFile(file, 'utf8')).trim().split('\n');
    expect(torn).toBe('{"jobId":"e1","err');
    const [begun, ...reported] = lines.map((line) => JSON.parse(line));
    const ended = reported.pop();
    const selector = { jobs: 3, context: {}, unknown: false };
    const instant = expect.stringMatching(/^2\d{3}-.*Z$/);
    expect(begun).toEqual({ erasure: 'begun', startedAt: instant, selector });
    expect(ended).toMatchObject({
      ...{ erasure: 'ended', startedAt: begun.startedAt, finishedAt: instant, selector },
      totals: { jobs: 3, erasedNow: 2, erasedBefore: 1, notErased: 0, removed: { artefacts: 2, bytes: 10 } },
    });
    expect(reported.map(({ jobId, complete }) => `${jobId} ${complete}`).sort()).toEqual([
      'e1 true',
      'e2 true',
      'e3 true',
    ]);
    await rm(file);
  });

  it.concurrent('says that jobs of a customer may be missing when the ledger is damaged', async () => {
    const { service, cli, store } = await begin({ context: ['customer'] });
    await store('e1', '&customer=acme');
    const yesterday = hourFolder(new Date(Date.now() - 86_400_000).toISOString());
    const file = path.join(service.folder, recordKey('ledger/', yesterday, 1));
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, 'no record');
    const report = `${service.folder}.ndjson`;
    const result = await cli(['erase', '--context', 'customer=acme', '--yes', '--report', report]);
    expect(result.stdout).toMatch(/^Erased e1: .*\nA job whose .*\nJobs with this context may be missing/s);
    expect(result.code).toBe(4);
    const [, job, unread] = (await readFile(report, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect([job.jobId, unread]).toEqual([
      'e1',
      { unread: expect.stringContaining(recordKey('ledger/', yesterday, 1)) },
    ]);
    await rm(report);
  });
});
