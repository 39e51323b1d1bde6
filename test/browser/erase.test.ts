import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { openDashboard } from '../support/dashboard/dashboard.js';
import { seriousFindings } from '../support/dashboard/serious-findings.js';
import { useDashboard } from '../support/dashboard/use-dashboard.js';
import { visibleKeys } from '../support/ledger/ledger-of.js';
import { adminApi, sendCallback } from '../support/processes/admin-api.js';

const fixture = useDashboard({ sources: { default: { context: ['customer'] } } });

const send = (id: string, customer: string, body = '{"format":"2.9"}') =>
  sendCallback(fixture.service, `id=${id}&status=success&customer=${customer}`, body, {
    'content-type': 'application/json',
  });

async function reportOf(page: Page): Promise<Record<string, unknown>[]> {
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download report' }).click();
  const text = await readFile(await (await saved).path(), 'utf8');
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  // The first and the last line are the run's, the others those of its jobs.
  const runs = lines.filter(({ erasure }) => erasure !== undefined);
  expect(runs.map(({ erasure }) => erasure)).toEqual(['begun', 'ended']);
  return lines.filter(({ erasure }) => erasure === undefined);
}

describe('erasing the jobs of a customer', () => {
  it('goes from the filtered deliveries to the report, by keyboard', async () => {
    await send('acme1', 'acme');
    await send('acme2', 'acme', '{"broken');
    await send('acme3', 'acme');
    await send('other', 'other');
    await adminApi(fixture.service).delete('/jobs/acme3').expect(200);
    const { page } = fixture.dashboard;
    await fixture.dashboard.go('deliveries?context=customer%3Dacme');
    await page.getByRole('link', { name: 'Erase all jobs with customer=acme…' }).click();
    await page.getByText(/^Would erase 2 jobs: 1 object and 1 quarantined body \(24 B\)/).waitFor();
    await page.getByText('Erased before, with nothing left: 1 job.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Erase 2 jobs…' }).focus();
    await page.keyboard.press('Enter');
    const confirm = page.getByRole('button', { name: 'Erase permanently' });
    expect(await confirm.isDisabled()).toBe(true);
    await page.keyboard.type('customer=acme');
    await page.keyboard.press('Tab');
    await page.keyboard.type('request 4711');
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('2 jobs erased now: 24 B.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Download report');
    expect(await visibleKeys(fixture.service.folder, 'jobs/')).toEqual(['jobs/other/jobinfo.json']);
    const report = await reportOf(page);
    expect(report.map(({ jobId, actor, reason }) => `${jobId} ${actor} ${reason}`).sort()).toEqual([
      'acme1 tester request 4711',
      'acme2 tester request 4711',
      'acme3 tester null',
    ]);
    for (const { complete, erasedAt } of report)
      expect([complete, erasedAt]).toEqual([true, expect.stringMatching(/^2\d{3}-.*Z$/)]);
  });

  it('is stopped, is interrupted, and goes on with what is left, by keyboard', async () => {
    for (let n = 0; n < 66; n += 1) await send(`acme${n}`, 'acme');
    const { page } = fixture.dashboard;
    const focused = () => page.evaluate('document.activeElement.textContent');
    const erase = async (jobs: string) => {
      await page.getByRole('button', { name: `Erase ${jobs}…` }).press('Enter');
      await page.getByLabel('Type customer=acme to confirm').fill('customer=acme');
      await page.getByLabel('Reason').fill('request 4711');
      await page.keyboard.press('Enter');
    };
    let answer = () => {};
    const stopped = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let isAway = false;
    await page.route('**/admin/api/erasures', async (route) => {
      if (route.request().postDataJSON().dryRun === true) return route.continue();
      await stopped;
      return isAway ? route.abort() : route.continue();
    });
    await fixture.dashboard.go('erase?context=customer%3Dacme');
    await erase('66 jobs');
    await page.getByText('0 of 66 jobs').waitFor();
    expect(await focused()).toBe('Stop');
    await page.keyboard.press('Enter');
    answer();
    await page.getByText('2 jobs left.').waitFor();
    expect(await visibleKeys(fixture.service.folder, 'jobs/')).toHaveLength(2);
    for (const why of [null, /^The receiver cannot be reached\. Check that the receiver is running/]) {
      if (why !== null) await page.getByText(why).waitFor();
      expect(await focused()).toBe('Preview what is left');
      await page.keyboard.press('Enter');
      await page.getByText(/^Would erase 2 jobs: 2 objects \(\d/).waitFor();
      await page.getByText('Erased before, with nothing left: 64 jobs.').waitFor();
      expect(await focused()).toBe('Preview');
      isAway = why === null;
      await erase('2 jobs');
    }
    await page.getByText('2 jobs erased now: ').waitFor();
    expect(new Set((await reportOf(page)).map(({ jobId }) => jobId)).size).toBe(66);
    (fixture.dashboard.trouble as string[]).length = 0;
  });

  it('says that jobs may be missing, also in the report, where the ledger cannot be read', async () => {
    await send('acme1', 'acme');
    const { page } = fixture.dashboard;
    await page.route('**/admin/api/deliveries?*', async (route) => {
      const response = await route.fetch();
      const answer = await response.json();
      const missing = [{ key: 'a', segments: 1, unreadable: 2 }];
      await route.fulfill({ response, json: { ...answer, index: { ...answer.index, missing } } });
    });
    await fixture.dashboard.go('erase');
    await page.getByLabel('Context, such as').fill('customer=acme');
    await page.getByLabel('Job ids').fill('misspelt');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('button', { name: 'Erase 1 job…' }).click();
    await page.getByLabel('Type 1 to confirm').fill('1');
    await page.getByLabel('Reason').fill('request 4711');
    await page.keyboard.press('Enter');
    await page.getByText('Erased, but not all').waitFor();
    const unread = 'Not in the index of the ledger: lines of a that cannot be read (2).';
    await page.getByText(`Jobs may be missing. ${unread}`).waitFor();
    expect(await reportOf(page)).toEqual([
      expect.objectContaining({ jobId: 'acme1', complete: true }),
      { jobId: 'misspelt', error: 'nothing is known of it' },
      { unread },
    ]);
  });
});

describe('an erasure without an answer', () => {
  it('says what may be left, and keeps the focus for going on', async () => {
    await send('acme1', 'acme');
    // The browser reports the failed request as an error, so the page is one of its own.
    const dashboard = await openDashboard(fixture.browser, fixture.service);
    const { page } = dashboard;
    const focused = () => page.evaluate('document.activeElement.textContent');
    await page.route('**/admin/api/erasures', async (route) =>
      route.request().postDataJSON().dryRun === true ? route.continue() : route.abort(),
    );
    await dashboard.go('erase?context=customer%3Dacme');
    await page.getByRole('button', { name: 'Erase 1 job…' }).click();
    await page.getByLabel('Type customer=acme to confirm').fill('customer=acme');
    await page.getByLabel('Reason').fill('request 4711');
    await page.keyboard.press('Enter');
    await page.getByText('At most 1 job left.').waitFor();
    expect(await page.getByRole('button', { name: 'Download report' }).count()).toBe(0);
    expect(await focused()).toBe('Preview what is left');
    await page.keyboard.press('Enter');
    await page.getByText(/^Would erase 1 job:/).waitFor();
    expect(await focused()).toBe('Preview');
    await dashboard.close();
  });
});

describe('what an erasure cannot remove', () => {
  it('is said with its reason and its date', async () => {
    await send('acme1', 'acme');
    const { page } = fixture.dashboard;
    const kept = { versions: 2, bytes: 5, reasons: ['retention'], until: '2099-01-02T03:04:05.000Z' };
    await page.route('**/admin/api/erasures', async (route) => {
      const response = await route.fetch();
      const answer = await response.json();
      for (const line of answer.report ?? []) Object.assign(line, { complete: false, kept });
      await route.fulfill({ response, json: answer });
    });
    await fixture.dashboard.go('erase?context=customer%3Dacme');
    await page.getByRole('button', { name: 'Erase 1 job…' }).click();
    await page.getByLabel('Type customer=acme to confirm').fill('customer=acme');
    await page.getByLabel('Reason').fill('request 4711');
    await page.keyboard.press('Enter');
    await page.getByText('Erased, but not all').waitFor();
    await page
      .getByText(
        /^2 versions of 1 job cannot be removed until 2 Jan 2099.*: a retention protects them\. Erase/,
      )
      .waitFor();
    expect(await page.locator('.panel.good').count()).toBe(0);
  });
});

describe('erasing a list of jobs', () => {
  it('leaves out ids about which nothing is known, unless told to, on a dark phone as well', async () => {
    await send('acme1', 'acme');
    const look = { colorScheme: 'dark', viewport: { width: 360, height: 740 } } as const;
    const dashboard = await openDashboard(fixture.browser, fixture.service, look);
    const { page } = dashboard;
    await dashboard.go('erase');
    await page.getByLabel('Job ids').fill('acme1\nmisspelt, acme1');
    // The view is opened again, as when the address is set while the page loads; the form stays.
    await page.evaluate("dispatchEvent(new HashChangeEvent('hashchange'))");
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Left out (nothing is known of it): misspelt.').waitFor();
    await page.getByLabel('Also ids about which nothing is known').check();
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('button', { name: 'Erase 2 jobs…' }).click();
    await page.getByLabel('Type 2 to confirm').fill('2');
    await page.getByLabel('Reason').fill('request 4711');
    await page.keyboard.press('Enter');
    await page.getByText('2 jobs erased now: 16 B.').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(await seriousFindings(page)).toEqual([]);
    expect((await send('misspelt', 'acme')).json).toMatchObject({ outcome: 'noted' });
    expect(dashboard.trouble).toEqual([]);
    await dashboard.close();
  });
});
