import { rename } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { openBrowser, openDashboard } from '../support/dashboard/dashboard.js';
import { seriousFindings } from '../support/dashboard/serious-findings.js';
import { sendCallback } from '../support/processes/admin-api.js';
import { type RunningService, startService } from '../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../support/recovery/lost-jobs.js';
import { until } from '../support/until.js';

const JSON_TYPE = { 'content-type': 'application/json' };

let browser: Browser;
let lost: LostJobs;
let service: RunningService;
let jobId: string;
let quarantined: string;

beforeAll(async () => {
  [browser, lost] = await Promise.all([openBrowser(), lostJobs()]);
  service = await startService({
    sources: {
      default: { maxBytes: '1MiB', context: ['customer'] },
      guarded: { credentials: { main: { headers: ['X-T: a-secret-of-sixteen'] } } },
    },
    ...lost.settings,
  });
  lost.simulator.faults.clear();
  const url = `${service.publicUrl}/callbacks/default`;
  const made = lost.simulator.submit({
    mediaBytes: 100_000,
    config: {
      type: 'transcription',
      notification_config: [{ url, contents: ['transcript', 'transcript.txt', 'data'] }],
    },
  });
  await made.notified;
  jobId = made.id;
  await sendCallback(service, `id=${jobId}&status=success`, '{"format":"2.9","results":[]}', JSON_TYPE);
  await sendCallback(service, 'id=poor&status=fetch_error');
  quarantined = String(
    (await sendCallback(service, 'id=q1&status=success', '{"broken', JSON_TYPE)).json.deliveryId,
  );
  await sendCallback(service, 'id=s1&status=success', '', {}, 'guarded');
});
afterAll(async () => {
  await browser.close();
  await service.stop();
  await lost.simulator.close();
});

const LOOKS = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  { name: 'phone', colorScheme: 'light', viewport: { width: 360, height: 740 } },
] as const;

const places = (): [string, string][] => [
  ['', '.u-over'],
  ['summary', '[data-key=groups] tbody tr'],
  ['deliveries', 'tbody tr'],
  [`jobs/${jobId}`, '.transcript .word, .transcript p'],
  ['jobs/unknown', '.empty'],
  ['search?text=zzz%20none', '.empty'],
  ['failures', '#quarantine ~ details'],
  [`quarantine/${quarantined}`, 'pre.raw'],
  ['reconcile', '[data-key=known]'],
  ['replays', 'form textarea'],
  ['replays/01ARZ3NDEKTSV4RRFFQ69G5FAV', '.panel.bad'],
  ['refusals', 'tbody tr'],
  ['explain', 'textarea'],
  ['help', '#topics'],
  ['help/store', '.prose'],
];

describe('on a phone', () => {
  it('a delivery stays within the page, however long its names are', async () => {
    const long = `j${'0123456789'.repeat(6)}`;
    await sendCallback(service, `id=${long}&status=success`, '{"format":"2.9","results":[]}', JSON_TYPE);
    const dashboard = await openDashboard(browser, service, { viewport: { width: 390, height: 844 } });
    const { page } = dashboard;
    for (const path of ['', 'deliveries']) {
      await dashboard.go(path);
      await page.getByRole('link', { name: long }).first().waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    }
    expect(dashboard.trouble).toEqual([]);
    await dashboard.close();
  });

  it('a job is found by its id', async () => {
    const dashboard = await openDashboard(browser, service, { viewport: { width: 360, height: 740 } });
    const { page } = dashboard;
    await page.getByLabel('Find a job by its id or context').fill(jobId);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Job ${jobId}` }).waitFor();
    await dashboard.close();
  });

  // What a window of 1280 pixels has left at 200 %; a tablet; the narrowest page whose lists are tables.
  it.each([640, 834, 901])('and on a desk, nothing scrolls sideways at %d pixels', async (width) => {
    const long = 'id=call-2026-11-20-abcdef-1&status=success&customer=a-customer-with-a-long-name';
    await sendCallback(service, long, 'x'.repeat(2 ** 20 + 1), JSON_TYPE);
    const dashboard = await openDashboard(browser, service, { viewport: { width, height: 450 } });
    const { page } = dashboard;
    for (const [path, ready] of places()) {
      await dashboard.go(path);
      await page.locator(ready).first().waitFor();
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, width]);
    }
    await dashboard.close();
  });

  it('words of the service without a blank move nothing out of the window', async () => {
    const dashboard = await openDashboard(browser, service, { viewport: { width: 1280, height: 450 } });
    const { page } = dashboard;
    const reason = `https://eu1.speech.example.com/${'0123456789'.repeat(30)}`;
    await page.route('**/admin/api/{failures,deliveries}*', async (route) => {
      const response = await route.fetch();
      const { failures, causes, deliveries, ...rest } = await response.json();
      const said = (lines?: object[]) =>
        lines?.map((line) => ({ ...line, outcome: 'failed', items: [], reason }));
      const named = causes?.map((cause: object) => ({ ...cause, code: reason }));
      const json = { ...rest, failures: said(failures), causes: named, deliveries: said(deliveries) };
      await route.fulfill({ response, json });
    });
    for (const path of ['deliveries', 'failures']) {
      await dashboard.go(path);
      await page.getByRole('cell', { name: reason }).first().waitFor();
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 1280]);
    }
    await dashboard.close();
  });
});

describe.each(LOOKS)('in $name', ({ name, ...look }) => {
  it('every place is free of serious findings and fits the width', async () => {
    const dashboard = await openDashboard(browser, service, look);
    const { page } = dashboard;
    for (const [path, ready] of places()) {
      await dashboard.go(path);
      await page.locator(ready).first().waitFor();
      expect([path, await seriousFindings(page)]).toEqual([path, []]);
      const [content, width] = (await page.evaluate(
        '[document.documentElement.scrollWidth, innerWidth]',
      )) as [number, number];
      expect([path, content]).toEqual([path, Math.min(content, width)]);
      expect([path, await page.getByRole('heading', { level: 1 }).count()]).toEqual([path, 1]);
    }
    expect(dashboard.trouble).toEqual([]);
    await dashboard.close();
  });

  it('the sign-in form and a question before erasing are, too', async () => {
    const dashboard = await openDashboard(browser, service, { ...look, signedIn: false });
    const { page } = dashboard;
    await page.getByLabel('Token').fill(service.adminToken);
    expect([name, await seriousFindings(page)]).toEqual([name, []]);
    await page.keyboard.press('Enter');
    await page.locator('.verdict').waitFor();
    await dashboard.go(`jobs/${jobId}`);
    await page.getByRole('button', { name: 'Erase…' }).click();
    expect([name, await seriousFindings(page)]).toEqual([name, []]);
    await dashboard.close();
  });
});

describe('with the store away', () => {
  it('a view says it once, and keeps its mark off the words', async () => {
    const dashboard = await openDashboard(browser, service);
    const { page } = dashboard;
    await page.locator('.verdict').waitFor();
    await rename(service.folder, `${service.folder}-away`);
    try {
      await dashboard.go('failures');
      const panel = page.getByRole('alert');
      await panel.waitFor();
      expect((await panel.innerText()).match(/store is unavailable/gi)).toHaveLength(1);
      expect(await seriousFindings(page)).toEqual([]);
      const gap = await page.evaluate(`(() => {
        const [mark, words] = document.querySelector('.panel.bad .lead').childNodes;
        const range = document.createRange();
        range.selectNodeContents(words);
        return range.getBoundingClientRect().left - mark.getBoundingClientRect().right;
      })()`);
      expect(gap).toBeGreaterThan(4);
      await page.getByText(/^Not up to date/).waitFor();
      await dashboard.go('help');
      await page.locator('#topics').waitFor();
      expect(await page.getByText(/^(Not up to date|Updated)/).count()).toBe(0);
      await dashboard.go('');
      const shown = (place: string) => page.locator(place).innerText();
      await until(async () => (await shown('.verdict')).includes('ledger cannot be read'));
      // What the index knows stays known.
      await page.locator('[data-key=quarantine]').getByText('1', { exact: true }).waitFor();
      expect(await shown('.tiles')).not.toMatch(/unavailable|is gone|ENOENT/i);
      await until(async () => /store cannot be read/i.test(await shown('[data-key=latest]')));
      // Refused ones are counted in the store.
      expect(await shown('[data-key=charts]')).not.toMatch(/Every callback in this window was/);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize({ width: 320, height: 640 });
      expect(await seriousFindings(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    } finally {
      await rename(`${service.folder}-away`, service.folder);
    }
    await dashboard.close();
  });
});
