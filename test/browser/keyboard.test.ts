import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type Dashboard, openBrowser, openDashboard } from '../support/dashboard/dashboard.js';
import { type RunningService, startService } from '../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../support/recovery/lost-jobs.js';

let browser: Browser;
let lost: LostJobs;
let service: RunningService;
let dashboard: Dashboard;

beforeAll(async () => {
  browser = await openBrowser();
});
beforeEach(async () => {
  lost = await lostJobs();
  service = await startService({ sources: { default: {} }, ...lost.settings });
  dashboard = await openDashboard(browser, service, { signedIn: false });
});
afterEach(async () => {
  expect(dashboard.trouble).toEqual([]);
  await dashboard.close();
  await service.stop();
  await lost.simulator.close();
});
afterAll(() => browser.close());

const FOCUSED =
  "(() => { const e = document.activeElement; return (e.getAttribute('aria-label') ?? e.textContent ?? '').trim() || e.id; })()";

/** Goes on by Tab until something of that name is focused, as a reader without a mouse does. */
async function tabTo(name: RegExp | string): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < 80; step += 1) {
    await dashboard.page.keyboard.press('Tab');
    const focused = String(await dashboard.page.evaluate(FOCUSED));
    passed.push(focused.slice(0, 40));
    if (typeof name === 'string' ? focused === name : name.test(focused)) return;
  }
  throw new Error(`Tab never reached ${name}; it passed ${passed.join(', ')}`);
}

describe('without a mouse', () => {
  it('one signs in, finds a job, repairs it and reads its transcript', async () => {
    const { page } = dashboard;
    const { keyboard } = page;
    const id = await lost.lose();
    await page.getByLabel('Token').waitFor();
    await keyboard.type(service.adminToken);
    await keyboard.press('Enter');
    await page.locator('.verdict').waitFor();
    await tabTo('find-job');
    await keyboard.type(id);
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: `Job ${id}` }).waitFor();
    expect(await page.evaluate(FOCUSED)).toBe(`Job ${id}`);
    await page.getByRole('button', { name: 'Refetch from the service' }).waitFor();
    await tabTo('Refetch from the service');
    await keyboard.press('Enter');
    await page.locator('#notice').getByText('recovered').waitFor();
    expect(await page.evaluate(FOCUSED)).toBe('Refetch from the service');
    await page.locator('.transcript .word').first().waitFor();
    await tabTo('Text of the transcript');
  });

  it('the first stop leads past the navigation, and every stop can be seen', async () => {
    const { page } = dashboard;
    await page.getByLabel('Token').fill(service.adminToken);
    await page.keyboard.press('Enter');
    await page.locator('.verdict').waitFor();
    await page.reload();
    await page.locator('.verdict').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(FOCUSED)).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    for (let step = 0; step < 12; step += 1) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    }
  });
});
