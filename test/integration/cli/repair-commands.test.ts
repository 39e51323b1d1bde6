import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type RecordedRequest, recordingServer } from '../../support/http/recording-server.js';
import { ledgerOf, visibleKeys } from '../../support/ledger/ledger-of.js';
import { sendCallback } from '../../support/processes/admin-api.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../../support/recovery/lost-jobs.js';
import { until } from '../../support/until.js';

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
      /^1 job of default, conflict: [^,]*\. 20\S+Z\.\n {2}Compare the versions .* choose the one that is right\.\n {4}transcript-receiver job <job>\n {2}Or accept it/m,
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

describe('subscribers on the command line', () => {
  it('shows what waits and what was not sent, with a command for each cause, which sends it', async () => {
    let accepts = false;
    // The first one must not be tried again, and ended, before the second.
    const refused = ({ body }: RecordedRequest) => (body.includes('"waits"') ? 503 : 410);
    const crm = await startSubscriber((_, request) => (accepts ? 200 : refused(request)));
    const secrets = [`whsec_${Buffer.alloc(32, 'cli').toString('base64')}`];
    const subscribed = await start({ subscribers: { crm: { url: crm.url, secrets } } });
    const NODE_CONFIG = JSON.stringify({
      store: { url: `file:${subscribed.folder}` },
      subscribers: { crm: { url: crm.url, secrets } },
    });
    const show = async () => (await runCommand(['subscribers', 'crm'], { NODE_CONFIG })).stdout;
    await sendCallback(subscribed, 'id=waits&status=success', 'text');
    await until(async () => /waits +\d+ +Answered 503: “noted”/.test(await show()), 500);
    await sendCallback(subscribed, 'id=ends&status=success', 'text');
    // The state of the sender is saved every two seconds.
    await until(async () => /Paused since[\s\S]+not sent/.test(await show()), 500);
    expect(await show()).toMatch(/Paused since \S+Z until \S+Z, then one event at a time is tried/);
    for (const id of ['new-1', 'new-2']) await sendCallback(subscribed, `id=${id}&status=success`, 'text');
    await until(async () => (await show()).includes(' 2 are not tried yet'), 500);
    const [, command = ''] = /(transcript-receiver replay notify .* --cause .*)/.exec(await show()) ?? [];
    expect(command).toMatch(/--subscriber crm --dead --cause 410$/);
    accepts = true;
    expect(await runCommand(command.split(' ').slice(1), { NODE_CONFIG })).toMatchObject({ code: 0 });
    // The replay ends the pause of the running service.
    await until(async () => (await show()).includes('; none waits'), 500);
    expect(await show()).not.toContain('not sent');
    const unknown = await runCommand(['subscribers', 'nobody'], { NODE_CONFIG });
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('known are crm') });
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
