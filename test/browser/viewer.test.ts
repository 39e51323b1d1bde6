import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type Dashboard, openBrowser, openDashboard } from '../support/dashboard/dashboard.js';
import { accessLinesOf } from '../support/ledger/ledger-of.js';
import { adminApi, sendCallback } from '../support/processes/admin-api.js';
import { type RunningService, startService } from '../support/processes/running-service.js';
import { until } from '../support/until.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const VIEWER = 'token-of-the-viewer-0123456789';
const DESK = 'token-of-the-desk-0123456789';
const WORD = 'unmistakable';
const transcriptOf = (id: string, word: string) =>
  JSON.stringify({
    format: '2.9',
    job: { id },
    metadata: {},
    results: [{ type: 'word', start_time: 0, end_time: 1, alternatives: [{ content: word, confidence: 1 }] }],
  });

let browser: Browser;
let service: RunningService;
let dashboard: Dashboard;
let replayId: string;

beforeAll(async () => {
  [browser, service] = await Promise.all([
    openBrowser(),
    startService({
      sources: { intake: {}, court: { keyPrefix: 'court/' } },
      admin: {
        tokens: {
          viewer: { token: VIEWER, may: ['view'] },
          desk: { token: DESK, may: ['view', 'read'], sources: ['intake'] },
        },
      },
    }),
  ]);
  const send = (id: string, body: string, source = 'intake') =>
    sendCallback(service, `id=${id}&status=success`, body, JSON_TYPE, source);
  await send('j1', transcriptOf('j1', WORD));
  await send('j1', transcriptOf('j1', 'different'));
  await send('q1', '{"broken\u0000"');
  await send('hidden', transcriptOf('hidden', 'secret'), 'court');
  const order = { selector: { kind: 'release' }, reason: 'try again' };
  replayId = (await adminApi(service).post('/replays').send(order)).body.replayId;
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

/** What a page offers: its buttons, and its links within the page. */
async function offersOf({ page }: Dashboard): Promise<{ buttons: string[]; links: string[] }> {
  return page.evaluate(`({
    buttons: [...document.querySelectorAll('button')].filter((each) => each.checkVisibility()).map((each) => each.textContent.trim()),
    links: [...document.querySelectorAll('main a')].map((each) => each.getAttribute('href')),
  })`);
}

const CHANGES = /refetch|import|erase|release|acknowledge|cancel|preview|start|retry/i;

describe('a viewer', () => {
  const answers: string[] = [];

  beforeAll(async () => {
    dashboard = await openDashboard(browser, { adminUrl: service.adminUrl, adminToken: VIEWER });
    dashboard.page.on('response', (response) => {
      if (response.url().includes('/admin/api/') && response.status() >= 400)
        answers.push(`${response.status()} ${response.url()}`);
    });
  });
  afterAll(() => dashboard.close());

  it.each([
    ['', 'Overview'],
    ['overview', 'Overview'],
    ['deliveries', 'Deliveries'],
    ['jobs/j1', 'Job j1'],
    ['failures', 'Failures'],
    ['reconcile', 'Reconcile'],
    ['replays', 'Replays'],
    ['replays/:id', 'Replay'],
    ['refusals', 'Refusals'],
    ['explain', 'Explain'],
    ['help', 'Help'],
  ])('finds on the page "%s" no button that changes anything, and no dead link', async (place, heading) => {
    const { page } = dashboard;
    await dashboard.go(place.replace(':id', replayId));
    await page.getByRole('heading', { level: 1, name: heading }).first().waitFor();
    await page.locator('[data-key=loading]').waitFor({ state: 'detached' });
    const { buttons, links } = await offersOf(dashboard);
    expect(buttons.filter((text) => CHANGES.test(text))).toEqual([]);
    expect(links.filter((href) => /quarantine\/|artefacts|kind=re|erase/.test(href))).toEqual([]);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(answers).toEqual([]);
    expect(dashboard.trouble).toEqual([]);
  });

  it('sees what happened to a job, without its content', async () => {
    const { page } = dashboard;
    await dashboard.go('jobs/j1');
    await page.getByText('This token may not read content').waitFor();
    await page.getByRole('heading', { name: 'Artefacts' }).waitFor();
    expect(await page.getByText('Conflict').count()).toBeGreaterThan(0);
    expect(await page.content()).not.toContain(WORD);
    expect(await page.locator('#actor').textContent()).toBe('Token viewer (view)');
    expect((await accessLinesOf(service.folder)).filter(({ outcome }) => outcome === 'read')).toEqual([]);
  });
});

describe('a reader of one source', () => {
  it('reads a transcript, which the page then shows as read, and finds nothing of another source', async () => {
    dashboard = await openDashboard(browser, { adminUrl: service.adminUrl, adminToken: DESK });
    const { page } = dashboard;
    await dashboard.go('jobs/j1');
    await page.getByText(WORD).first().waitFor();
    await until(async () => (await accessLinesOf(service.folder)).some(({ outcome }) => outcome === 'read'));
    await page.reload();
    await page.getByText(/^\d access(es)? to content by desk, the last at /).click();
    await page.getByText('Content was read: transcript (json-v2)').first().waitFor();
    await page
      .getByText(/By desk from 127\.0\.0\.1/)
      .first()
      .waitFor();
    await dashboard.go('jobs/hidden');
    await dashboard.page
      .getByText('A job of a source that this token may not see is unknown to it, too.')
      .waitFor();
    await page.getByText('This receiver does not know the job.').waitFor();
    await dashboard.go('');
    await page.getByText('Not covered: the quarantine').waitFor();
    expect(await page.getByRole('heading', { name: 'Last reconcile' }).count()).toBe(0);
    expect(await page.content()).not.toContain('court');
    expect(dashboard.trouble).toEqual([]);
    await dashboard.close();
  });
});
