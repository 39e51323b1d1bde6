import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { openBrowser, openDashboard } from '../support/dashboard/dashboard.js';
import { type PrefixProxy, startPrefixProxy } from '../support/http/prefix-proxy.js';
import { sendCallback } from '../support/processes/admin-api.js';
import { type RunningService, startService } from '../support/processes/running-service.js';

const TRANSCRIPT = '{"format":"2.9","job":{"id":"one"},"metadata":{},"results":[]}';

let browser: Browser;
let service: RunningService;
let proxy: PrefixProxy;

beforeAll(async () => {
  browser = await openBrowser();
  service = await startService({ sources: { default: {} } });
  proxy = await startPrefixProxy(service.adminUrl, '/ops/receiver');
  await sendCallback(service, 'id=one&status=success', TRANSCRIPT, { 'content-type': 'application/json' });
  await sendCallback(service, 'id=two&status=error', '', {});
});

afterAll(async () => {
  await browser.close();
  await proxy.close();
  await service.stop();
});

it('reads, changes and downloads below the path prefix of a balancer', async () => {
  const { adminToken } = service;
  const { page, go, trouble, close } = await openDashboard(browser, { adminUrl: proxy.url, adminToken });
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  for (const view of ['deliveries', 'failures', 'replays', 'subscribers', 'refusals', 'explain', 'help']) {
    await go(view);
    await page.locator(`nav [data-view="${view}"][aria-current="page"]`).waitFor();
  }
  await go('jobs/one');
  const href = await page.getByRole('link', { name: 'Download transcript.json' }).getAttribute('href');
  const downloaded = await page.evaluate(`fetch(${JSON.stringify(href)}).then((answer) => answer.text())`);
  expect(downloaded).toBe(TRANSCRIPT);
  await page.reload();
  await page.getByRole('heading', { name: /one/ }).first().waitFor();
  expect({ trouble, strays: proxy.strays }).toEqual({ trouble: [], strays: [] });
  await close();
});
