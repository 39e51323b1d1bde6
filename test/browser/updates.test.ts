import { beforeEach, describe, expect, it } from '@jest/globals';
import { useDashboard } from '../support/dashboard/use-dashboard.js';
import { sendCallback } from '../support/processes/admin-api.js';
import { until } from '../support/until.js';

/** The page updates every few seconds: what the user has typed, opened or chosen stays. */

const fixture = useDashboard({ recovery: { concurrency: 1 } });
beforeEach(async () => {
  // The test controls the page's timers.
  await fixture.dashboard.page.clock.install();
  await fixture.dashboard.page.reload();
});

/** Lets the page update this many times. */
async function updates(times: number) {
  const { page } = fixture.dashboard;
  for (let done = 0; done < times; done += 1) {
    const answered = page.waitForResponse((response) => response.url().includes('/admin/api/'));
    await page.clock.runFor(10_000);
    await answered;
    await page.getByText(/^Updated /).waitFor();
  }
}

/** Fills every field, opens all details, and remembers the elements; `LOOK` counts those that are unchanged. */
const MARK = `(() => {
  const content = document.getElementById('content');
  const controls = [...content.querySelectorAll('input:not([type=file]), textarea, select')];
  controls.forEach((control, index) => {
    if (control.nodeName === 'SELECT') control.selectedIndex = control.options.length - 1;
    else if (control.type === 'datetime-local') control.value = '2026-01-02T03:04:05';
    else control.value = 'typed' + index;
  });
  const details = [...content.querySelectorAll('details')];
  for (const one of details) one.open = true;
  window.marked = controls.map((control) => [control, control.value]).concat(details.map((one) => [one, true]));
  return window.marked.length;
})()`;
const LOOK = `window.marked.filter(([element, value]) =>
  element.isConnected && (element.nodeName === 'DETAILS' ? element.open : element.value) === value).length`;

describe('an update of the page', () => {
  it.each([
    ['overview', '', 'Over time', 3],
    ['deliveries', 'deliveries', 'Deliveries', 8],
    ['job', 'jobs/held', 'Artefacts', 4],
    ['failures', 'failures', 'Quarantine', 4],
    ['replays', 'replays', 'Earlier replays', 8],
    ['refusals', 'refusals', 'Refusals', 0],
    ['explain', 'explain', 'Explain', 3],
  ])('keeps what the user typed and opened on the %s page', async (name, route, shown, fields) => {
    const { page } = fixture.dashboard;
    const transcript = { format: '2.9', metadata: {}, results: [] };
    const headers = { 'content-type': 'application/json' };
    await sendCallback(fixture.service, 'id=held&status=success', JSON.stringify(transcript), headers);
    await fixture.dashboard.go(route);
    const heading = page.locator('#content').getByRole('heading', { name: shown }).first();
    // Also an answer that came late on a busy machine is asked for again only when the page's timers run.
    await until(async () => {
      await page.clock.runFor(1000);
      return heading.isVisible();
    });
    // The first answers still fill the page.
    if (name !== 'explain') await updates(2);
    const marked = await page.evaluate(MARK);
    expect(marked).toBeGreaterThanOrEqual(fields);
    if (name !== 'explain') await updates(3);
    expect(await page.evaluate(LOOK)).toBe(marked);
  });

  it('leaves the replay form, its preview and the reason in place until the replay is started late', async () => {
    const { page } = fixture.dashboard;
    const jobs = await Promise.all([fixture.lost.lose(), fixture.lost.lose()]);
    await fixture.dashboard.go('replays');
    await updates(4);
    await page.getByLabel('Job ids').fill(jobs.join(' '));
    await updates(2);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Would refetch 2 jobs').waitFor();
    await updates(2);
    await page.getByLabel('Reason').fill('after a while');
    await updates(2);
    await page.getByRole('button', { name: 'Start with 2 jobs' }).click();
    await page.getByText('2 of 2').waitFor();
    await updates(1);
    await page.locator('h1 + .status').getByText('Done').waitFor();
    await fixture.dashboard.go('replays');
    await updates(2);
    await page.getByRole('row').filter({ hasText: 'after a while' }).getByText('Done').waitFor();
    expect(await page.getByLabel('Job ids').inputValue()).toBe('');
  });

  it('leaves an open dialog, its typed reason and the focus alone', async () => {
    const { page } = fixture.dashboard;
    await fixture.dashboard.go('jobs/unknown-so-far');
    await sendCallback(fixture.service, 'id=unknown-so-far&status=success', 'plain', {
      'content-type': 'text/plain',
    });
    await updates(2);
    await page.getByRole('button', { name: 'Erase…' }).click();
    const reason = page.getByRole('dialog').getByLabel('Reason');
    await reason.fill('asked to');
    await updates(3);
    expect(await reason.inputValue()).toBe('asked to');
    expect(await reason.evaluate('document.activeElement.name')).toBe('reason');
    await page.getByRole('button', { name: 'Cancel' }).click();
  });
});
