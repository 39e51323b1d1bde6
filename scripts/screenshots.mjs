// Draws docs/images/*.png from the demo: light, dark and phone, the overview in light with nothing wrong. `npm run screenshots`
import { mkdirSync } from 'node:fs';
import { launchChromium } from './chromium.mjs';
import { startDemo } from './dashboard-demo.mjs';

const FOLDER = process.argv[2] ?? 'docs/images';
const DESK = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

const LOOKS = [
  { name: 'light', colorScheme: 'light', ...DESK },
  { name: 'dark', colorScheme: 'dark', ...DESK },
  { name: 'phone', colorScheme: 'light', ...PHONE },
];

mkdirSync(FOLDER, { recursive: true });
const demo = await startDemo();
const well = await startDemo({ withIssues: false });
const browser = await launchChromium();
try {
  for (const look of LOOKS) await draw(look);
} finally {
  await browser.close();
  await Promise.all([demo.stop(), well.stop()]);
}

async function draw({ name, ...options }) {
  const context = await browser.newContext({
    ...options,
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  page.on('console', (message) => message.type() === 'error' && console.error(name, message.text()));
  page.on('pageerror', (error) => console.error(name, error));
  if (name === 'light') {
    await page.goto(`${well.adminUrl}/#token=${well.token}`);
    await shoot(page, 'overview-light', '', '.u-over');
  }
  await page.goto(`${demo.adminUrl}/#token=${demo.token}`);
  if (name !== 'light') await shoot(page, `overview-${name}`, '', '.u-over');
  if (name === 'dark') await shoot(page, `job-${name}`, `jobs/${demo.jobs.whole}`, '.transcript .word');
  if (name === 'light') await shoot(page, `failures-${name}`, 'failures', '#quarantine ~ details');
  if (name === 'phone') await shoot(page, `deliveries-${name}`, 'deliveries', 'tbody tr');
  await context.close();
}

async function shoot(page, name, path, ready) {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/${path}`);
  await page.waitForSelector(ready);
  await page.waitForLoadState('networkidle').catch(() => {});
  await page.screenshot({ path: `${FOLDER}/${name}.png` });
}
