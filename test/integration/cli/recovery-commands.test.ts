import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RecoveryReport } from '../../../src/recovery/reconcile/report/recovery-report.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { ledgerOf, visibleKeys } from '../../support/ledger/ledger-of.js';
import { runCli } from '../../support/processes/run-cli.js';
import { runCommand } from '../../support/processes/run-command.js';
import { type RecoveryFixture, recoveryFixture } from '../../support/recovery/recovery-fixture.js';

let fixture: RecoveryFixture;

beforeEach(async () => {
  fixture = await recoveryFixture();
});

afterEach(() => fixture.close());

function settings(more: Record<string, unknown> = {}): Record<string, string> {
  const regions = Object.fromEntries(
    Object.entries(fixture.simulator.batchUrls).map(([region, batchUrl]) => [region, { batchUrl }]),
  );
  const settings = {
    store: { url: `file:${fixture.folder}`, partSize: '64KiB' },
    limits: { memoryBudget: '1MiB', quarantineBytes: '128KiB' },
    speech: { apiKey: fixture.simulator.apiKey, regions, retries: 0 },
    recovery: { grace: '0s' },
    ...more,
  };
  return { NODE_CONFIG: JSON.stringify(settings) };
}

describe('reconcile on the command line', () => {
  it('fetches, prints the report and exits with 0', async () => {
    const id = await fixture.lose();
    const first = await runCommand(['reconcile', '--json'], settings());
    expect(first).toMatchObject({ code: 0, stderr: expect.stringMatching(/^.*the store is empty.*\n$/) });
    const report = JSON.parse(first.stdout) as RecoveryReport;
    expect(report.outcomes.recovered).toBe(1);
    const [key] = await visibleKeys(fixture.folder, 'reports/');
    expect(JSON.parse(await readFile(join(fixture.folder, key ?? ''), 'utf8'))).toEqual(report);
    expect(await fixture.isExact(`jobs/${id}/transcript.json`, id, 'transcript.json-v2')).toBe(true);
    const second = await runCommand(['reconcile'], settings());
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).toMatch(/matched +1\n/);
  });

  it('settles the failures of jobs that are complete', async () => {
    const jobId = await fixture.lose();
    await runCommand(['reconcile'], settings());
    const receivedAt = new Date().toISOString();
    await fixture.parts.ledger.append(ledgerLine({ receivedAt, jobId, outcome: 'refused', items: [] }));
    expect((await runCommand(['failures'], settings())).stdout).toMatch(/^1 job is failing/);
    expect(await runCommand(['reconcile'], settings())).toMatchObject({ code: 0, stderr: '' });
    expect((await runCommand(['failures'], settings())).stdout).toMatch(/^No job is failing/);
  });

  it('exits with 3 for what is lost for good, with 4 for what may come yet, 4 before 3', async () => {
    fixture.simulator.setStatus(await fixture.lose(), 'expired');
    const lost = await runCommand(['reconcile'], settings());
    expect(lost.code).toBe(3);
    expect(lost.stdout).toMatch(/unrecoverable +eu1 \S+ .*the job is expired/);
    await fixture.lose();
    fixture.simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 500 });
    const both = await runCommand(['reconcile'], settings());
    expect(both.code).toBe(4);
    expect(both.stdout).toMatch(/failed +eu1 .*answered 500/);
  });

  it('says that pending jobs need a later run', async () => {
    await fixture.lose();
    const { code, stdout } = await runCommand(['reconcile'], settings({ recovery: { grace: '1h' } }));
    expect(code).toBe(0);
    expect(stdout).toMatch(/pending +1\n.*\nPending jobs .* run reconcile again/s);
    expect((await runCommand(['reconcile'], settings())).stdout).not.toContain('Pending jobs');
  });

  it('exits with 4 when a region cannot be listed', async () => {
    fixture.simulator.faults.add({ kind: 'answer', operation: 'list', region: 'us1', status: 503 });
    const result = await runCommand(['reconcile'], settings());
    expect(result.code).toBe(4);
    expect(result.stdout).toMatch(/error in us1: list jobs in us1: answered 503/);
  });

  it('changes nothing in a dry run', async () => {
    const id = await fixture.lose();
    const result = await runCommand(['reconcile', '--dry-run', '--since', '1h'], settings());
    expect(result).toMatchObject({ code: 0, stderr: expect.stringMatching(/^.*the store is empty.*\n$/) });
    expect(result.stdout).toMatch(new RegExp(`${id}.*would be fetched`));
    expect(result.stdout).toContain('Pending jobs would be fetched, are');
    expect(await visibleKeys(fixture.folder)).toEqual([]);
  });

  it.each([
    [['--region', 'mars1'], {}, /for region "mars1"; regions with one are eu1/],
    [['--region', 'eu2'], {}, /no batchUrl is configured for region "eu2"/],
    [['--source', 'nobody'], {}, /unknown source nobody; configured sources are default/],
    [['--since', 'yesterday'], {}, /--since expects/],
    [['--since', '2199-01-01T00:00:00Z'], {}, /--since .* is in the future/],
    [['--unknown'], {}, /unknown option/],
    [[], { speech: { apiKey: null } }, /no region is configured/],
  ])('refuses %j with 2 and says why', async (args, more, message) => {
    const result = await runCommand(['reconcile', ...args], settings(more));
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
    expect(await visibleKeys(fixture.folder, 'reports/')).toEqual([]);
  });

  it('refuses to start without an API key', async () => {
    const { eu1 = '' } = fixture.simulator.batchUrls;
    const speech = { apiKey: null, regions: { eu1: { batchUrl: eu1 } } };
    const result = await runCommand(['reconcile'], settings({ speech }));
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/apiKey is not configured/);
  });
});

describe('refetch on the command line', () => {
  it('fetches one job and prints its outcome', async () => {
    const jobId = await fixture.lose();
    await fixture.lose();
    const result = await runCommand(['refetch', jobId, '--json'], settings());
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(result.stdout)).toMatchObject({ jobId, region: 'eu1', outcome: 'recovered' });
    expect(await visibleKeys(fixture.folder, 'jobs/')).toEqual([`jobs/${jobId}/transcript.json`]);
    expect(await ledgerOf(fixture.folder)).toMatchObject([{ jobId, actor: 'command-line' }]);
  });

  it('exits with 3 for an unknown job and with 2 for an invalid id', async () => {
    expect(await runCommand(['refetch', 'unheard-of'], settings())).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(
        /no configured region knows .*\n.* transcript-receiver job unheard-of finds/,
      ),
    });
    for (const id of ['../x', '']) {
      expect(await runCommand(['refetch', id], settings())).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^.*"(\.\.\/x)?" is not a job id/),
      });
    }
  });

  it('exits with 4 and says so when it is interrupted', async () => {
    let kill: (signal: NodeJS.Signals) => void = () => {};
    const silent = createServer(() => kill('SIGINT')).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const speech = {
      apiKey: fixture.simulator.apiKey,
      regions: { eu1: { batchUrl: `http://127.0.0.1:${port}/v2` } },
    };
    const result = await runCli(
      ['refetch', 'some-job', '--json'],
      settings({ speech }),
      undefined,
      (given) => {
        kill = given;
      },
    );
    silent.close();
    expect(result).toMatchObject({ code: 4, stderr: '' });
    expect(JSON.parse(result.stdout)).toEqual({
      jobId: 'some-job',
      region: null,
      outcome: 'failed',
      reason: 'the run was interrupted',
      items: [],
    });
  });
});
