import { describe, expect, it } from '@jest/globals';
import { seriousFindings } from '../support/dashboard/serious-findings.js';
import { useDashboard } from '../support/dashboard/use-dashboard.js';
import { adminApi, sendCallback } from '../support/processes/admin-api.js';
import { until } from '../support/until.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const TRANSCRIPT = JSON.stringify({ format: '2.9', job: { id: 'j' }, metadata: {}, results: [] });

/** Whether something in colour, neither text nor grid, lies in the last fifth of every plot. */
const ALL_DRAWN = `[...document.querySelectorAll('.plot canvas')].every((canvas) => {
  const { width, height } = canvas;
  const { data } = canvas.getContext('2d').getImageData(width * 0.8, 0, width * 0.2, height * 0.8);
  const isColour = (at) => data[at + 3] > 200 && Math.max(...data.slice(at, at + 3)) - Math.min(...data.slice(at, at + 3)) > 20;
  for (let at = 0; at < data.length; at += 4) if (isColour(at)) return true;
  return false;
})`;

/** For each row of tiles, the share of its width that the tiles and the gaps between them fill. */
const FILLED_ROWS = `(() => {
  const list = document.querySelector('.tiles').getBoundingClientRect();
  const rows = new Map();
  for (const tile of document.querySelectorAll('.tile')) {
    const { top, right } = tile.getBoundingClientRect();
    rows.set(top, Math.max(rows.get(top) ?? 0, (right - list.left) / list.width));
  }
  return [...rows.values()];
})()`;

const fixture = useDashboard({ recovery: { interval: '1s' } });

/** Before the first reconcile run it is unknown whether a callback was lost. */
const allIsWell = () => fixture.dashboard.page.locator('.verdict').getByText('All is well').waitFor();

describe('the overview', () => {
  it('says how to send a first callback, and shows it once it came', async () => {
    const { page } = fixture.dashboard;
    await page.getByText('Nothing has arrived yet.').waitFor();
    expect(await page.locator('.chart > .quiet').allTextContents()).toEqual([
      'No deliveries in this window.',
      'No callbacks in this window.',
      'No callbacks in this window.',
    ]);
    expect(await page.locator('.plot').count()).toBe(0);
    // The port that it listens on, and a source that is configured.
    expect(await page.locator('pre.command').textContent()).toContain(
      `'${fixture.service.publicUrl}/callbacks/default?id=first-job&status=success'`,
    );
    await sendCallback(fixture.service, 'id=first-job&status=success', TRANSCRIPT, JSON_TYPE);
    await page.getByRole('cell', { name: 'first-job' }).waitFor();
    await allIsWell();
    await page.getByText('1 delivery in the last 24 hours, no job is failing.').waitFor();
    await page.locator('[data-key=outcomes] .sum', { hasText: /^1$/ }).waitFor();
    await page.getByText('Every callback in this window was answered 2xx.').waitFor();
    expect(await page.locator('.plot canvas:visible').count()).toBe(2);
  });

  it('folds the facts while all is well, and opens them when it is not', async () => {
    const { page } = fixture.dashboard;
    await allIsWell();
    const facts = page.getByText('Facts behind the verdict');
    expect(await page.locator('.tile').first().isVisible()).toBe(false);
    await facts.click();
    await page.getByRole('heading', { name: 'Last reconcile' }).waitFor();
    await facts.click();
    await sendCallback(fixture.service, 'id=q1&status=success', '{"broken', JSON_TYPE);
    await page.getByRole('heading', { name: 'Quarantine' }).waitFor();
  });

  it('is two screens of a phone while all is well', async () => {
    const { page } = fixture.dashboard;
    await page.setViewportSize({ width: 390, height: 844 });
    for (let number = 0; number < 8; number += 1)
      await sendCallback(fixture.service, `id=phone-${number}&status=success`, TRANSCRIPT, JSON_TYPE);
    await page.getByRole('cell', { name: 'phone-7' }).waitFor();
    await allIsWell();
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(2 * 844);
  });

  it('fills every row of tiles at every width', async () => {
    const { page } = fixture.dashboard;
    await allIsWell();
    await page.getByText('Facts behind the verdict').click();
    for (const width of [320, 360, 640, 700, 820, 900, 1024, 1280, 1440, 1920]) {
      await page.setViewportSize({ width, height: 800 });
      const rows = await page.evaluate<number[]>(FILLED_ROWS);
      expect([width, rows.filter((share) => share < 0.99)]).toEqual([width, []]);
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      expect([width, overflow]).toEqual([width, 0]);
    }
  });

  it('draws what came just now, in every chart', async () => {
    const { page } = fixture.dashboard;
    await sendCallback(fixture.service, 'id=just-now&status=success', TRANSCRIPT, JSON_TYPE);
    await page.getByRole('cell', { name: 'just-now' }).waitFor();
    await until(() => page.evaluate<boolean>(ALL_DRAWN));
  });

  it('does not show time that the index lacks as a time without deliveries', async () => {
    const { page } = fixture.dashboard;
    await sendCallback(fixture.service, 'id=known&status=success', TRANSCRIPT, JSON_TYPE);
    await page.getByRole('cell', { name: 'known' }).waitFor();
    // As while the index is being built: it has the newest hour.
    const since = new Date(Date.now() - 3_600_000).toISOString();
    await page.route(/\/(summary|health)\b/, async (route) => {
      const answer = await (await route.fetch()).json();
      const index = { ...(answer.index ?? answer.verdict.index), since };
      if (answer.verdict === undefined) return route.fulfill({ json: { ...answer, index } });
      const verdict = { ...answer.verdict, level: 'unknown', unseen: ['deliveries'], index };
      return route.fulfill({ json: { ...answer, verdict } });
    });
    await page
      .locator('.verdict')
      .getByText(/ 1 delivery since .*, no failing job was found/)
      .waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: colorScheme === 'dark' ? 320 : 1280, height: 640 });
      expect(await seriousFindings(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    }
  });

  it('turns to a warning when a body goes to quarantine, and leads to it', async () => {
    const { page } = fixture.dashboard;
    await allIsWell();
    await sendCallback(fixture.service, 'id=q1&status=success', '{"broken', JSON_TYPE);
    await page.getByText('1 undecodable body waits in quarantine.').waitFor();
    await page.getByRole('link', { name: 'Inspect and release' }).click();
    await page.getByText('The body is declared as JSON but does not parse.').waitFor();
  });

  it('keeps focus and what is opened while it updates itself', async () => {
    const { page } = fixture.dashboard;
    await sendCallback(fixture.service, 'id=j0&status=success', TRANSCRIPT, JSON_TYPE);
    const summary = page.getByText(/^Deliveries per .* as a table$/);
    await summary.click();
    await page.getByRole('link', { name: '6 hours' }).focus();
    await sendCallback(fixture.service, 'id=j1&status=success', TRANSCRIPT, JSON_TYPE);
    await page.getByRole('cell', { name: 'j1' }).waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('6 hours');
    expect(await page.getByRole('rowheader').first().isVisible()).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForURL(/range=6h$/);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('6 hours');
  });

  it('rests while paused, and says when the receiver cannot be reached', async () => {
    const { page } = fixture.dashboard;
    await allIsWell();
    await page.getByRole('button', { name: 'Pause updates' }).click();
    await sendCallback(fixture.service, 'id=j1&status=success', TRANSCRIPT, JSON_TYPE);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.getByRole('link', { name: 'Explain' }).click();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('cell', { name: 'j1' }).waitFor();
    expect(asked.filter((url) => url.endsWith('/summary'))).toHaveLength(0);
    await page.route('**/admin/api/**', (route) => route.abort());
    await page.getByRole('button', { name: 'Pause updates' }).click();
    await page.getByText(/^Not up to date, last seen .*: The receiver cannot be reached$/).waitFor();
    await page
      .locator('.verdict')
      .getByText(/^Last seen /)
      .waitFor();
    expect(await page.locator('.verdict').getAttribute('class')).toContain('neutral');
    expect(await page.locator('.tiles .status.good').count()).toBe(0);
    await page.getByRole('cell', { name: 'j1' }).waitFor();
    (fixture.dashboard.trouble as string[]).length = 0;
  });
});

describe('the summary', () => {
  it('says of any time how many, what was wrong and whose, and leads to the deliveries', async () => {
    const { page } = fixture.dashboard;
    await sendCallback(fixture.service, 'id=good&status=success', TRANSCRIPT, JSON_TYPE);
    await sendCallback(fixture.service, 'id=poor&status=error');
    await sendCallback(fixture.service, 'id=bad', TRANSCRIPT, JSON_TYPE);
    await page.getByRole('link', { name: 'Any time…' }).click();
    await page.getByText('3 deliveries, 3 callbacks.').waitFor();
    await page.getByText('1 callback (33 %) was not answered 2xx.').waitFor();
    await page.getByLabel('Grouped by').selectOption('outcome');
    await page.waitForURL(/by=outcome$/);
    await page.getByRole('link', { name: 'noted', exact: true }).click();
    await page.waitForURL(/deliveries\?.*outcome=noted/);
    await page.getByRole('cell', { name: 'poor' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
  });

  it('draws the time that was chosen, and a bar leads to its deliveries within the filters', async () => {
    const { page } = fixture.dashboard;
    await sendCallback(fixture.service, 'id=good&status=success', TRANSCRIPT, JSON_TYPE);
    await sendCallback(fixture.service, 'id=poor&status=error');
    await sendCallback(fixture.service, 'id=bad', TRANSCRIPT, JSON_TYPE);
    const since = new Date(Date.now() - 3 * 24 * 3_600_000).toISOString();
    await fixture.dashboard.go(`summary?by=cause&outcome=noted&since=${since}`);
    await page.locator('[data-key=outcomes] .sum', { hasText: /^1$/ }).waitFor();
    await page.getByText('Every callback in this window was answered 2xx.').waitFor();
    // Charts are drawn once their library is there.
    await until(async () => (await page.locator('.plot canvas:visible').count()) === 1);
    await until(() => page.evaluate<boolean>(ALL_DRAWN));
    const plot = page.locator('#plot-outcomes .u-over');
    const { width = 0 } = (await plot.boundingBox()) ?? {};
    await plot.click({ position: { x: width - 2, y: 20 } });
    await page.waitForURL(/deliveries\?.*outcome=noted/);
    await page.getByRole('cell', { name: 'poor' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.goBack();
    await page.getByLabel('Outcome').selectOption('');
    await page.waitForURL(/summary\?(?!.*outcome)/);
    await until(async () => (await page.locator('.plot canvas:visible').count()) === 2);
    await page.getByText(/^Deliveries per .* as a table$/).click();
    const link = page.getByRole('rowheader').getByRole('link').first();
    expect(await link.getAttribute('href')).toMatch(/^#\/deliveries\?since=/);
  });

  it('is reached from a bar of a chart, by its table as well', async () => {
    const { page } = fixture.dashboard;
    await sendCallback(fixture.service, 'id=good&status=success', TRANSCRIPT, JSON_TYPE);
    await page.getByText(/^Deliveries per .* as a table$/).click();
    await page.getByRole('rowheader').first().getByRole('link').click();
    await page.waitForURL(/deliveries\?since=/);
    await page.getByRole('cell', { name: 'good' }).waitFor();
  });
});

describe('deliveries', () => {
  it('are filtered by an address that can be shared, and going back works', async () => {
    const { page } = fixture.dashboard;
    await sendCallback(fixture.service, 'id=good&status=success', TRANSCRIPT, JSON_TYPE);
    await sendCallback(fixture.service, 'id=poor&status=error');
    await fixture.dashboard.go('deliveries');
    await page.getByRole('cell', { name: 'good' }).waitFor();
    await page.getByLabel('Outcome').selectOption('noted');
    await page.waitForURL(/outcome=noted$/);
    await page.getByRole('cell', { name: 'good' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('row').count()).toBe(2);
    await page.reload();
    await page.getByRole('cell', { name: 'poor' }).waitFor();
    expect(await page.getByLabel('Outcome').inputValue()).toBe('noted');
    await page.getByRole('link', { name: 'poor' }).click();
    await page.getByRole('heading', { name: 'Job poor' }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Clear' }).click();
    await page.getByRole('cell', { name: 'good' }).waitFor();
    expect(await page.getByLabel('Outcome').inputValue()).toBe('');
    await page.getByLabel('Job', { exact: true }).fill('nobody');
    await page.keyboard.press('Enter');
    await page.getByText('No delivery matches these filters.').waitFor();
  });

  it('have ranges by one click, which keep the filters', async () => {
    const { page } = fixture.dashboard;
    await sendCallback(fixture.service, 'id=good&status=success', TRANSCRIPT, JSON_TYPE);
    await sendCallback(fixture.service, 'id=poor&status=error');
    await fixture.dashboard.go('deliveries');
    await page.getByRole('cell', { name: 'good' }).waitFor();
    // The list of the new filters comes late: until then the page shows the one before, with its buttons.
    let showList = () => {};
    const held = new Promise<void>((resolve) => {
      showList = resolve;
    });
    await page.route(/\/deliveries\?.*limit=50$/, (route) => held.then(() => route.continue()));
    await page.getByLabel('Outcome').selectOption('noted');
    await page.getByRole('button', { name: '15 minutes' }).click();
    await page.waitForURL(/outcome=noted&since=/);
    showList();
    await page.getByRole('cell', { name: 'good' }).waitFor({ state: 'detached' });
  });

  it("leave operators' acts out, until the address asks for them", async () => {
    const { page } = fixture.dashboard;
    await sendCallback(fixture.service, 'id=poor&status=error');
    await adminApi(fixture.service).post('/jobs/poor/acknowledge').send({ reason: 'known' }).expect(200);
    const latest = page.getByRole('table', { name: 'Latest deliveries' });
    await latest.getByRole('cell', { name: 'poor' }).waitFor();
    await page.getByRole('button', { name: 'Pause updates' }).click();
    await page.getByRole('button', { name: 'Pause updates' }).click();
    await page.getByText(/^Updated /).waitFor();
    expect(await latest.getByRole('row').count()).toBe(2);
    await fixture.dashboard.go('deliveries');
    await page.getByRole('cell', { name: 'poor' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByLabel('Operators’ acts').selectOption('With');
    await page.waitForURL(/deliveries\?acts=with$/);
    await page.getByText('acknowledged by tester').waitFor();
    await page.getByLabel('Callback status').selectOption('error');
    await page.waitForURL(/status=error&acts=with$/);
    await page.reload();
    expect(await page.getByLabel('Operators’ acts').inputValue()).toBe('with');
    await page.goBack();
    await page.goBack();
    await page.waitForURL(/deliveries$/);
    await until(async () => (await page.getByLabel('Operators’ acts').inputValue()) === '');
    await until(async () => (await page.getByRole('row').count()) === 2);
    await fixture.dashboard.go('deliveries?outcome=recovered');
    await page.getByRole('link', { name: 'show operators’ acts' }).click();
    await page.waitForURL(/outcome=recovered&acts=with$/);
    await fixture.dashboard.go('deliveries?outcome=acknowledged');
    await page.getByText('acknowledged by tester').waitFor();
  });

  it('show what arrives while one looks on', async () => {
    const { page } = fixture.dashboard;
    await fixture.dashboard.go('deliveries');
    await page.getByText('Nothing has arrived yet.').waitFor();
    await sendCallback(fixture.service, 'id=live1&status=success', TRANSCRIPT, JSON_TYPE);
    await page.getByRole('cell', { name: 'live1' }).waitFor();
    await sendCallback(fixture.service, 'id=live2&status=success', TRANSCRIPT, JSON_TYPE);
    await page.getByRole('cell', { name: 'live2' }).waitFor();
    expect(await page.locator('tbody tr').first().textContent()).toContain('live2');
  });
});
