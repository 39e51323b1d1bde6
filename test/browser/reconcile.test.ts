import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { openBrowser, openDashboard } from '../support/dashboard/dashboard.js';
import { seriousFindings } from '../support/dashboard/serious-findings.js';
import { type RunningService, startService } from '../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../support/recovery/lost-jobs.js';
import { type FaultProxy, startFaultProxy } from '../support/store/fault-proxy.js';

let browser: Browser;
let lost: LostJobs;
/** In front of the service's jobs API. */
let proxy: FaultProxy;
let service: RunningService;

beforeAll(async () => {
  [browser, lost] = await Promise.all([openBrowser(), lostJobs()]);
  proxy = await startFaultProxy(lost.simulator.batchUrls.eu1 ?? '');
  service = await startService({
    sources: { default: {} },
    recovery: { interval: 'off', grace: '1ms' },
    speech: { ...(lost.settings.speech as object), regions: { eu1: { batchUrl: proxy.url } } },
  });
});
afterAll(async () => {
  await browser.close();
  await service.stop();
  await proxy.close();
  await lost.simulator.close();
});

const NONE = ['Complete: 0', 'Conflict: 0', 'Failed: 0', 'Pending: 0', 'Recovered: 0', 'Unrecoverable: 0'];

/** Facts of a section, as `name: figure`. */
async function factsOf(page: Page, section: string): Promise<string[]> {
  const terms = page.getByRole('region', { name: section }).locator('dl.facts > *');
  return (await terms.allInnerTexts()).map((text) => text.replace(/\s+/g, ': ')).sort();
}

async function expectFit(page: Page): Promise<void> {
  expect(await seriousFindings(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
}

describe('Reconcile now', () => {
  it('fetches what did not arrive, and shows how far it is and what it found', async () => {
    const held = await lost.lose();
    const broken = await lost.lose();
    for (let number = 0; number < 2; number += 1) await lost.lose();
    const ofBroken = {
      kind: 'answer',
      operation: 'transcript',
      jobId: broken,
      status: 500,
      body: {},
    } as const;
    lost.simulator.faults.add(ofBroken);
    proxy.fault = ({ url }) =>
      url.includes(`/${held}/transcript`) ? { kind: 'delay', ms: 3_600_000 } : null;
    const dashboard = await openDashboard(browser, service, { viewport: { width: 320, height: 740 } });
    const { page } = dashboard;
    await page.getByRole('link', { name: 'Reconcile now' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('none yet').waitFor();
    const begin = page.getByRole('button', { name: 'Reconcile now' });
    await begin.focus();
    await page.keyboard.press('Enter');
    const inProgress = page.getByRole('region', { name: 'In progress' });
    await inProgress.getByText('3 jobs checked, 2 recovered, 1 failed').waitFor();
    await inProgress.getByText(/^Started .* by tester, in replica /).waitFor();
    expect(await begin.isDisabled()).toBe(true);
    await expectFit(page);
    proxy.endFaults();
    await page.getByText(/^Ended .* by tester, in /).waitFor();
    expect(await inProgress.count()).toBe(0);
    expect(await begin.isDisabled()).toBe(false);
    expect(await factsOf(page, 'Last run of this replica')).toEqual(
      NONE.with(2, 'Failed: 1').with(4, 'Recovered: 3'),
    );
    await expectFit(page);
    lost.simulator.faults.clear();
    await page.getByLabel('As far back as the service keeps results').check();
    await begin.click();
    await page.getByText('Complete', { exact: true }).locator('..').getByText('3', { exact: true }).waitFor();
    expect(await factsOf(page, 'Last run of this replica')).toEqual(
      NONE.with(0, 'Complete: 3').with(4, 'Recovered: 1'),
    );
    await page.getByText('none yet').waitFor({ state: 'detached' });
    expect(dashboard.trouble).toEqual([]);
    await dashboard.close();
  });
});
