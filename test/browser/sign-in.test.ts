import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type Dashboard, openBrowser, openDashboard } from '../support/dashboard/dashboard.js';
import { type RunningService, startService } from '../support/processes/running-service.js';

let browser: Browser;
let service: RunningService;
let dashboard: Dashboard;

beforeAll(async () => {
  [browser, service] = await Promise.all([openBrowser(), startService({ sources: { default: {} } })]);
});
afterEach(() => dashboard.close());
afterAll(async () => {
  await browser.close();
  await service.stop();
});

describe('signing in', () => {
  it('opens by the start link and takes the token out of the address', async () => {
    dashboard = await openDashboard(browser, service);
    const { page } = dashboard;
    await page.getByText('Needs attention').waitFor();
    expect(page.url()).toBe(`${service.adminUrl}/#/`);
    await page.goBack().catch(() => null);
    expect(page.url()).not.toContain(service.adminToken);
    await page.goForward().catch(() => null);
    expect(await page.evaluate('JSON.stringify(localStorage) + document.cookie')).toBe('{}');
    expect(dashboard.trouble).toEqual([]);
  });

  it('asks for a token, refuses a wrong one in words, and lets the right one in', async () => {
    dashboard = await openDashboard(browser, service, { signedIn: false });
    const { page } = dashboard;
    await page.getByLabel('Token').fill('not-the-token-at-all');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Invalid token').waitFor();
    expect(await page.getByRole('navigation', { name: 'Main' }).isVisible()).toBe(false);
    await page.getByLabel('Token').fill(service.adminToken);
    await page.getByLabel('Token').press('Enter');
    await page.getByText('Needs attention').waitFor();
    expect(dashboard.trouble).toEqual([]);
  });

  it('keeps the place that was asked for, also over a reload', async () => {
    dashboard = await openDashboard(browser, service, { signedIn: false });
    const { page } = dashboard;
    await dashboard.go('explain');
    await page.getByLabel('Token').fill(service.adminToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Explain', level: 1 }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Explain', level: 1 }).waitFor();
  });

  it('returns to the form when the token is no longer valid, and on sign-out', async () => {
    dashboard = await openDashboard(browser, service);
    const { page } = dashboard;
    await page.getByText('Needs attention').waitFor();
    await page.evaluate("sessionStorage.setItem('transcript-receiver.token', 'revoked-revoked-revoked')");
    await dashboard.go('refusals');
    await page.getByLabel('Token').waitFor();
    await page.getByText('You were signed out').waitFor();
    await page.getByLabel('Token').fill(service.adminToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Refusals', level: 1 }).waitFor();
    await page.evaluate("sessionStorage.setItem('transcript-receiver.token', 'revoked-revoked-revoked')");
    await page.reload();
    await page.getByText('The token of this tab is no longer valid.').waitFor();
    await page.keyboard.type(service.adminToken);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Refusals', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.locator('input[name=token]:focus').waitFor();
    expect(await page.locator('#notice').isVisible()).toBe(false);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });
});
