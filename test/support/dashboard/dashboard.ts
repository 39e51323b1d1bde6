import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from '../../../scripts/chromium.mjs';
import type { RunningService } from '../processes/running-service.js';

/** The dashboard in its own browser window, which is monitored for errors. */
export interface Dashboard {
  readonly page: Page;
  /** Goes to a place within the page, e.g. `jobs/abc`. */
  go(path: string): Promise<void>;
  /** Scripts that failed or were blocked, dialogs, requests to anywhere else. Empty without errors. */
  readonly trouble: readonly string[];
  close(): Promise<void>;
}

export interface Look extends BrowserContextOptions {
  /** Open signed in, by the start link. Default true. */
  readonly signedIn?: boolean;
}

/** One browser for a test file: starting it is the slow part. */
export function openBrowser(): Promise<Browser> {
  return launchChromium();
}

type Served = Pick<RunningService, 'adminUrl' | 'adminToken'>;

export async function openDashboard(browser: Browser, service: Served, look: Look = {}): Promise<Dashboard> {
  const { signedIn = true, ...options } = look;
  const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  // Somewhat less than a test may take: what was waited for is named.
  page.setDefaultTimeout(150_000);
  const trouble: string[] = [];
  watch(page, service.adminUrl, trouble);
  await page.goto(signedIn ? `${service.adminUrl}/#token=${service.adminToken}` : `${service.adminUrl}/`);
  return {
    page,
    trouble,
    async go(path) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/${path}`)}`);
    },
    async close() {
      // The page updates itself: an answer that a test still changes belongs to nobody once the page goes.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    },
  };
}

function watch(page: Page, home: string, trouble: string[]): void {
  page.on('dialog', (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => trouble.push(`script failed: ${error.message}`));
  page.on('console', (message) => {
    // Refusals of the API are answers, not faults of the page; the browser logs them all the same.
    const answered = /^Failed to load resource: the server responded with a status of [45]/.test(
      message.text(),
    );
    if (message.type() === 'error' && !answered) trouble.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${home}/`)) trouble.push(`request to ${request.url()}`);
  });
}
