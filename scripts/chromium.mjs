// The browser for tests and screenshots: headless, a fresh profile each time, no background traffic.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

/** The shell draws no window around a page, which costs more CPU than most pages. */
const BROWSERS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--autoplay-policy=no-user-gesture-required',
];

export function launchChromium() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? BROWSERS.find((path) => existsSync(path)),
    headless: true,
    // A busy machine starts it more slowly than Playwright's 30 s.
    timeout: 150_000,
    args: FLAGS,
  });
}
