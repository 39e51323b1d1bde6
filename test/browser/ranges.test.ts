import { mkdtempSync } from 'node:fs';
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useDashboard } from '../support/dashboard/use-dashboard.js';
import { putCompacted, putDaily, putRollup } from '../support/ledger/compacted-hours.js';
import { ledgerLine } from '../support/ledger/ledger-lines.js';
import { putSegment } from '../support/ledger/ledger-segments.js';
import { sendCallback } from '../support/processes/admin-api.js';
import { createMemoryStore } from '../support/store/memory-store.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const folder = mkdtempSync(join(tmpdir(), 'transcript-receiver-'));
const daysAgo = (days: number) => new Date(Date.now() - days * DAY).toISOString();

/** A ledger whose hours before the last three days are compacted, but for one. */
beforeAll(async () => {
  const store = createMemoryStore();
  const lines = Array.from({ length: 7 }, () => ledgerLine({ receivedAt: daysAgo(20) }));
  const key = await putRollup(store, daysAgo(20), 1, lines);
  putDaily(store, daysAgo(20).slice(0, 10), [key]);
  const lost = ledgerLine({ receivedAt: daysAgo(5), jobId: 'lost-days-ago', outcome: 'failed' });
  await putCompacted(store, lost.receivedAt, 1, [lost]);
  putSegment(store, daysAgo(4), [ledgerLine({ receivedAt: daysAgo(4) })]);
  // Its segment was deleted, so that memory begins after it.
  const removed = ledgerLine({ receivedAt: daysAgo(3) });
  await putRollup(store, removed.receivedAt, 1, [removed]);
  for (const [name, { body, modifiedAt }] of store.objects) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), body);
    await utimes(join(folder, name), modifiedAt, modifiedAt);
  }
});
afterAll(() => rm(folder, { recursive: true }));

const fixture = useDashboard({ store: { url: `file:${folder}` } });

describe('older deliveries', () => {
  it('are in the charts of 30 days and of a year', async () => {
    const { page } = fixture.dashboard;
    await page.getByRole('link', { name: '30 days' }).click();
    await page.waitForURL(/range=30d$/);
    const table = page.getByText(/^8 stored, 1 failed\. Most at/);
    await table.waitFor({ state: 'attached' });
    await page.getByRole('link', { name: '1 year' }).click();
    await page.waitForURL(/range=1y$/);
    await page.getByText('Days begin at midnight UTC.').waitFor();
    await table.waitFor({ state: 'attached' });
    await page.getByRole('link', { name: '1 hour' }).click();
    await page.getByText('No callbacks in this window.').first().waitFor();
    expect(await page.getByText(/^Not counted/).count()).toBe(0);
  });

  it('count for the verdict, and the failing ones are listed', async () => {
    const { page } = fixture.dashboard;
    await page.getByText('1 job is failing: 1 not fetched.').first().waitFor();
    await page
      .getByText(/^Covers deliveries since .+\. Not covered: some of them, which Failures names\.$/)
      .waitFor();
    await fixture.dashboard.go('failures');
    await page.getByRole('cell', { name: 'Refetch lost-days-ago' }).waitFor();
    await page
      .getByText(
        /^Every delivery since .+ was checked\. Not checked: read: ledger-parquet\/.+: it is missing\.$/,
      )
      .waitFor();
  });

  it('announce nothing when they are asked for while the list of a new filter is on its way', async () => {
    const { page } = fixture.dashboard;
    for (let n = 0; n < 51; n += 1) await sendCallback(fixture.service, `id=j${n}&status=error`);
    await sendCallback(fixture.service, 'id=broken&status=success', '{', {
      'content-type': 'application/json',
    });
    await fixture.dashboard.go('deliveries');
    await page.getByRole('button', { name: 'Load older' }).waitFor();
    let showList = () => {};
    const clicked = new Promise<void>((resolve) => {
      showList = resolve;
    });
    await page.route(/\/deliveries\?.*outcome=noted/, (route) => clicked.then(() => route.continue()));
    await page.getByLabel('Outcome').selectOption('noted');
    await page.waitForURL(/outcome=noted$/);
    await page.getByRole('button', { name: 'Load older' }).click();
    showList();
    await page.getByRole('cell', { name: 'broken' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Load older' }).click();
    await page.getByRole('link', { name: 'j0', exact: true }).waitFor();
    expect(await page.locator('#notice').isVisible()).toBe(false);
  });
});
