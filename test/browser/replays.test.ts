import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { useDashboard } from '../support/dashboard/use-dashboard.js';
import { adminApi } from '../support/processes/admin-api.js';
import { startService } from '../support/processes/running-service.js';

const fixture = useDashboard({ recovery: { concurrency: 1 } });

async function preview(jobs: readonly string[]) {
  const { page } = fixture.dashboard;
  await fixture.dashboard.go('replays');
  await page.getByText('No replay was started yet.').waitFor();
  await page.getByLabel('Job ids').fill(jobs.join('\n'));
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText(`Would refetch ${jobs.length} jobs`).waitFor();
}

describe('a replay of many jobs', () => {
  it('is previewed, started with a reason, and watched to its end', async () => {
    const { page } = fixture.dashboard;
    const jobs = await Promise.all(Array.from({ length: 5 }, () => fixture.lost.lose()));
    await preview(jobs);
    await page.getByLabel('Reason').fill('outage of the 5th');
    await page.getByRole('button', { name: 'Start with 5 jobs' }).click();
    await page.getByText('5 of 5').waitFor();
    await page.locator('h1 + .status').getByText('Done').waitFor();
    await page.getByText('Recovered').waitFor();
    await page.getByText('outage of the 5th').waitFor();
    await fixture.dashboard.go(`jobs/${jobs[0]}`);
    await page.getByText('A refetch stored what was missing: transcript (json-v2)').waitFor();
  });

  it('names what failed, and what is left to do about it', async () => {
    const { page } = fixture.dashboard;
    const jobs = [await fixture.lost.lose(), 'nobody-knows-this-one'];
    fixture.lost.simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 500 });
    await preview(jobs);
    await page.getByLabel('Reason').fill('one is unknown');
    await page.getByRole('button', { name: 'Start with 2 jobs' }).click();
    await page.getByText('2 of 2, 2 failed').waitFor();
    const row = page.getByRole('row').filter({ hasText: 'nobody-knows-this-one' });
    await row.getByText('no configured region knows this job').waitFor();
    await page.getByText('What the service does not have stays lost there').waitFor();
  });

  it('takes a time that is typed without a pause', async () => {
    const { page } = fixture.dashboard;
    await fixture.dashboard.go('replays');
    const since = page.getByLabel(/^Since/);
    await since.focus();
    await page.keyboard.type('03042026050607AM');
    expect(await since.inputValue()).toBe('2026-03-04T05:06:07');
  });

  it('can be found again behind later ones', async () => {
    const { page } = fixture.dashboard;
    for (let n = 0; n < 22; n += 1) {
      const selector = { kind: 'refetch', jobs: [`job${n}`] };
      const started = await adminApi(fixture.service)
        .post('/replays')
        .send({ selector, reason: `number ${n} of all` });
      expect(started.status).toBe(202);
    }
    await fixture.dashboard.go('replays');
    await page.getByRole('row').filter({ hasText: 'number 2 of all' }).waitFor();
    expect(await page.getByText('number 1 of all').count()).toBe(0);
    await page.getByRole('button', { name: 'Load more replays' }).click();
    await page.getByRole('row').filter({ hasText: 'number 0 of all' }).waitFor();
  });

  it('can be cancelled while it runs', async () => {
    const { page } = fixture.dashboard;
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const batchUrl = `http://127.0.0.1:${port}`;
    const waiting = await startService({
      sources: { default: {} },
      speech: { apiKey: 'any-key-will-do', regions: { eu1: { batchUrl } } },
    });
    try {
      await page.goto(`${waiting.adminUrl}/#token=${waiting.adminToken}`);
      await preview(Array.from({ length: 40 }, (_, index) => `job${index}`));
      await page.getByLabel('Reason').fill('too much');
      await page.getByRole('button', { name: 'Start with 40 jobs' }).click();
      await page.getByText('0 of 40').waitFor();
      await page.getByRole('button', { name: 'Cancel replay…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel the replay' }).click();
      await page.locator('h1 + .status').getByText('Cancelled').waitFor();
      expect(await page.getByRole('button', { name: 'Cancel replay…' }).count()).toBe(0);
      await page.getByRole('link', { name: 'All replays' }).click();
      await page.getByRole('row').filter({ hasText: 'Cancelled' }).getByText('too much').waitFor();
      expect(fixture.dashboard.trouble.filter((text) => !text.includes(waiting.adminUrl))).toEqual([]);
      (fixture.dashboard.trouble as string[]).length = 0;
    } finally {
      silent.closeAllConnections();
      silent.close();
      await page.goto('about:blank');
      await waiting.stop();
      (fixture.dashboard.trouble as string[]).length = 0;
    }
  });

  it('says so when nothing matches, and what is wrong with the form', async () => {
    const { page } = fixture.dashboard;
    await fixture.dashboard.go('replays');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('A refetch needs jobs or at least one filter.').waitFor();
    await page.getByLabel('Region').selectOption('au1');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('No job matches.').waitFor();
  });
});
