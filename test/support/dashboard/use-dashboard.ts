import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type RunningService, startService } from '../processes/running-service.js';
import { type LostJobs, lostJobs } from '../recovery/lost-jobs.js';
import { type Dashboard, type Look, openBrowser, openDashboard } from './dashboard.js';

/** What a browser test works with; valid while its test runs. */
export interface DashboardFixture {
  readonly browser: Browser;
  /** A speech service whose callbacks get lost. */
  readonly lost: LostJobs;
  readonly service: RunningService;
  readonly dashboard: Dashboard;
}

/**
 * One browser for the test file; a service, a simulator and a page of its own for every test. After each test the
 * page must have no blocked or failed script, no dialog and no request to another origin.
 *
 * @param settings of the service, or what makes them before each test
 */
export function useDashboard(settings: object | (() => object) = {}, look: Look = {}): DashboardFixture {
  const fixture = {} as { -readonly [Name in keyof DashboardFixture]: DashboardFixture[Name] };
  beforeAll(async () => {
    fixture.browser = await openBrowser();
  });
  beforeEach(async () => {
    fixture.lost = await lostJobs();
    fixture.service = await startService({
      sources: { default: {} },
      ...fixture.lost.settings,
      ...(typeof settings === 'function' ? settings() : settings),
    });
    fixture.dashboard = await openDashboard(fixture.browser, fixture.service, look);
  });
  afterEach(async () => {
    expect(fixture.dashboard.trouble).toEqual([]);
    await fixture.dashboard.close();
    await fixture.service.stop();
    await fixture.lost.simulator.close();
  });
  afterAll(() => fixture.browser.close());
  return fixture;
}
