import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type Dashboard, openBrowser, openDashboard } from '../support/dashboard/dashboard.js';
import { sendCallback } from '../support/processes/admin-api.js';
import { type RunningService, startService } from '../support/processes/running-service.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const CONTEXT = 'call=7%2Fa&case=1&case=2';
const TRANSCRIPT = JSON.stringify({ format: '2.9', metadata: {}, results: [] });

let browser: Browser;
let service: RunningService;
let dashboard: Dashboard;
let deliveryId: string;

beforeAll(async () => {
  browser = await openBrowser();
  service = await startService({ sources: { default: { context: ['call', 'case'] } } });
  const sent = await sendCallback(service, `id=first&status=success&${CONTEXT}`, TRANSCRIPT, JSON_TYPE);
  deliveryId = String(sent.json.deliveryId);
});
beforeEach(async () => {
  dashboard = await openDashboard(browser, service, {
    // A zone without summer time, eight hours and three quarters ahead of UTC.
    timezoneId: 'Australia/Eucla',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
});
afterEach(async () => {
  expect(dashboard.trouble).toEqual([]);
  await dashboard.close();
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

/** The minutes that a time in a table shows, against those of the instant it stands for. */
const MINUTES_AHEAD = `(() => {
  const time = document.querySelector('td time');
  const shown = /(\\d\\d):(\\d\\d):\\d\\d/.exec(time.textContent);
  const instant = new Date(time.dateTime);
  return (Number(shown[1]) * 60 + Number(shown[2]) - instant.getUTCHours() * 60 - instant.getUTCMinutes() + 1440) % 1440;
})()`;

describe('times', () => {
  it('are in the browser’s zone, which the page names, and those of fields too', async () => {
    const { page } = dashboard;
    await dashboard.go('deliveries?since=2026-01-02T03%3A04%3A05.000Z');
    await page.getByRole('cell', { name: 'first' }).waitFor();
    await page.getByText('Times in Australia/Eucla').waitFor();
    expect(await page.evaluate(MINUTES_AHEAD)).toBe(525);
    const since = page.getByLabel('Since Australia/Eucla');
    expect(await since.inputValue()).toBe('2026-01-02T11:49:05');
    await page.getByLabel('Until Australia/Eucla').fill('2031-05-06T15:53:09');
    await page.waitForURL(/until=2031-05-06T07%3A08%3A09/);
  });
});

describe('ids', () => {
  it('of jobs and deliveries are links, and can be copied', async () => {
    const { page } = dashboard;
    await dashboard.go('deliveries');
    await page.getByRole('button', { name: 'Copy job id first' }).click();
    await page.locator('#notice').getByText('Copied: job id first.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('first');
    await page.locator('td a:has(time)').first().click();
    await page.getByRole('heading', { name: 'Job first' }).waitFor();
    await page.locator('.timeline .chosen').getByRole('link', { name: deliveryId }).waitFor();
    await page.getByRole('button', { name: `Copy delivery id ${deliveryId}` }).click();
    await page.locator('#notice').getByText(`Copied: delivery id ${deliveryId}.`).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(deliveryId);
  });
});

describe('the context', () => {
  it('is a column and a filter of deliveries, and on the page of the job', async () => {
    const { page } = dashboard;
    await dashboard.go('deliveries');
    await page.getByRole('columnheader', { name: 'Context' }).waitFor();
    await page.getByRole('cell', { name: 'call 7/a' }).getByRole('link', { name: '7/a' }).click();
    await page.waitForURL(/deliveries\?context=call%3D7%2Fa$/);
    await page.getByRole('cell', { name: 'first' }).waitFor();
    await page.getByLabel('Context', { exact: true }).fill('call=8');
    await page.getByLabel('Context', { exact: true }).press('Enter');
    await page.getByText('No delivery matches these filters.').waitFor();
    await page.getByLabel('Context', { exact: true }).fill('cal=8');
    await page.getByLabel('Context', { exact: true }).press('Enter');
    await page.getByText('"cal" is not known; sources admit call, case').waitFor();
    await dashboard.go('jobs/first');
    await page.locator('main p', { hasText: 'call 7/a' }).first().waitFor();
    await page.getByText('Left out of the context: case (given more than once).').first().waitFor();
  });
});
