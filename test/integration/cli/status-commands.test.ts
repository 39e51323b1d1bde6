import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openStore } from '../../../src/store/open-store.js';
import { type AdminApi, adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { until } from '../../support/until.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const transcript = (content: string) => JSON.stringify({ format: '2.9', metadata: {}, results: [], content });

let service: RunningService;
let api: AdminApi;

beforeEach(async () => {
  service = await startService({ sources: { intake: { maxBytes: '1KiB' } } });
  api = adminApi(service);
});
afterEach(() => service.stop());

const settings = () => ({
  NODE_CONFIG: JSON.stringify({
    store: { url: `file:${service.folder}` },
    sources: { intake: {} },
    recovery: { interval: 'off' },
  }),
});
const send = (job: string, content: string) =>
  sendCallback(service, `id=${job}&status=success`, transcript(content), JSON_TYPE, 'intake');

describe('status on the command line', () => {
  it('gives the verdict of the API from the store alone, with an exit code for each level', async () => {
    await send('fine', 'a');
    await until(async () => (await api.get('/health')).body.ledger.state === 'ready');
    const { body: health } = await api.get('/health');
    const warned = await runCommand(['status', '--json'], settings());
    expect(warned).toMatchObject({ code: 1, stderr: '' });
    const { verdict } = JSON.parse(warned.stdout);
    expect(verdict).toMatchObject({ level: 'warning', issues: [{ code: 'reconcile-not-configured' }] });
    expect(verdict.issues).toEqual(health.verdict.issues);
    await send('large', 'a'.repeat(2000));
    const failing = await runCommand(['status'], settings());
    expect(failing.code).toBe(2);
    expect(failing.stdout).toMatch(
      /^Act now\.\n {2}failing {2}1 job is failing: 1 refused\. It has been open since 20\S+Z\.\n {11}See Failures on the page, or run/,
    );
    expect(failing.stdout).not.toMatch(/Not in the index|Not covered/);
  });

  it('warns before a credential expires without its secret, and says when each was last used', async () => {
    const credentials = (names: string[]) =>
      Object.fromEntries(names.map((name) => [name, { headers: [`X-Token: ${name.repeat(20)}`] }]));
    const sources = { intake: { credentials: credentials(['old', 'new']) } };
    const other = await startService({ sources });
    const token = 'old'.repeat(20);
    await sendCallback(
      other,
      'id=a&status=success',
      transcript('a'),
      { ...JSON_TYPE, 'x-token': token },
      'intake',
    );
    const status = (known: object) =>
      runCommand(['status'], {
        NODE_CONFIG: JSON.stringify({ store: { url: `file:${other.folder}` }, sources: { intake: known } }),
      });
    const expires = new Date(Date.now() + 86_400_000).toISOString();
    const unread = '\u0024{env:NOT_HERE}';
    const old = { headers: [`X-Token: ${unread}`], expires };
    const { stdout } = await status({ credentials: { old, new: { headers: [`X-Token: ${unread}`] } } });
    expect(stdout).toMatch(
      /The credential intake\/old expires at 20\S+Z; it was last used at 20\S+Z\.\n +Submit jobs with new: transcript/,
    );
    expect(stdout).toMatch(/\nintake\/new: not used in the last 7 days\nintake\/old: last used 20\S+Z\n$/);
    const removed = (await status({ credentials: { new: { headers: [`X-Token: ${unread}`] } } })).stdout;
    expect(removed).toMatch(/\nintake\/old: last used 20\S+Z; not in this configuration\n$/);
    const uncovered = (await status({})).stdout;
    await other.stop();
    expect(uncovered).toMatch(/Not covered: when credentials of the receivers expire\./);
  });

  it('says so when no receiver writes to the store', async () => {
    // As of a store that was restored and has no receiver yet.
    await (await openStore({ url: `file:${service.folder}/elsewhere` })).begin();
    const { stdout } = await runCommand(['status'], {
      NODE_CONFIG: JSON.stringify({
        store: { url: `file:${service.folder}/elsewhere` },
        sources: { intake: {} },
      }),
    });
    expect(stdout).toMatch(/No receiver is writing to this store/);
  });

  it('requires action when the store cannot be read', async () => {
    const { code, stdout } = await runCommand(['status'], {
      NODE_CONFIG: JSON.stringify({ store: { url: 's3://some-bucket' }, sources: { intake: {} } }),
      AWS_REGION: '',
      AWS_EC2_METADATA_DISABLED: 'true',
    });
    expect({ code, stdout }).toMatchObject({ code: 2, stdout: expect.stringMatching(/^Act now\./) });
  });
});

describe('failures on the command line', () => {
  it('lists failures, by filters and in pages', async () => {
    for (const id of ['one', 'two']) await send(id, 'a'.repeat(2000));
    const all = await runCommand(['failures'], settings());
    expect(all).toMatchObject({ code: 0, stderr: '' });
    expect(all.stdout).toMatch(/^2 jobs are failing: 2 refused\.\n/);
    expect(all.stdout).toMatch(/^Nothing can be refetched: set speech\.apiKey and /m);
    expect(all.stdout).not.toMatch(/replay refetch/);
    expect(all.stdout).toMatch(/refused +- +one +20\S+Z +the body was larger than maxBytes of the source\n/);
    expect(all.stdout).toMatch(
      /^2 jobs of intake, refused: the body was larger than .*\n {2}Refetch the job, whatever its size\. For later ones raise maxBytes of the source, and restart\.\n/m,
    );
    const first = JSON.parse((await runCommand(['failures', '--json', '--limit', '1'], settings())).stdout);
    expect(first).toMatchObject({ failures: [{ jobId: 'one' }], counts: { refused: 2 } });
    const rest = await runCommand(['failures', '--json', '--cursor', first.nextCursor], settings());
    expect(JSON.parse(rest.stdout)).toMatchObject({ failures: [{ jobId: 'two' }], nextCursor: null });
    const wrong = await runCommand(['failures', '--outcome', 'faild'], settings());
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/"faild" is not known; known are stored/),
    });
    for (const filter of ['--since=2999-01-01T00:00:00Z', '--cause=other']) {
      const none = await runCommand(['failures', filter], settings());
      expect(none.stdout).toMatch(/^No failing job matches, by \d+ ledger lines in file:/);
    }
  });

  it('lists and settles jobs of a source that was removed since', async () => {
    await send('of-intake', 'a'.repeat(2000));
    const { NODE_CONFIG } = settings();
    const removed = { NODE_CONFIG: JSON.stringify({ ...JSON.parse(NODE_CONFIG), sources: { other: {} } }) };
    const cause = ['--cause', 'body-too-large'];
    for (const command of [
      ['failures'],
      ['quarantine'],
      ['replay', 'release', '--dry-run'],
      ['acknowledge', ...cause, '--reason', 'sent again elsewhere'],
    ]) {
      const unknown = await runCommand([...command, '--source', 'nobody'], removed);
      expect([command, unknown.code, unknown.stderr]).toEqual([
        command,
        2,
        expect.stringMatching(/"nobody" is not known/),
      ]);
      expect(await runCommand([...command, '--source', 'intake'], removed)).toMatchObject({
        code: 0,
        stderr: '',
      });
    }
    expect((await runCommand(['failures', ...cause], removed)).stdout).toMatch(/^No failing job matches/);
  });
});
