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
  // Less than Jest's timeout, so that the error names what was waited for.
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
      // The page polls: a request that a test still intercepts would fail once the page is closed.
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
    // Error answers of the API are no faults of the page, but the browser logs them.
    const answered = /^Failed to load resource: the server responded with a status of [45]/.test(
      message.text(),
    );
    if (message.type() === 'error' && !answered) trouble.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${home}/`)) trouble.push(`request to ${request.url()}`);
  });
}
