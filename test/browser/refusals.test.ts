import { expect, it } from '@jest/globals';
import { countRefusals } from '../../src/archive/count-refusals.js';
import { openStore } from '../../src/store/open-store.js';
import { useDashboard } from '../support/dashboard/use-dashboard.js';
import { sendCallback } from '../support/processes/admin-api.js';

const fixture = useDashboard({
  sources: { default: {}, guarded: { credentials: { main: { headers: ['X-T: a-secret-of-sixteen'] } } } },
});

it('of all replicas, and before a restart, are counted by cause above those of this replica', async () => {
  const store = await openStore({ url: `file:${fixture.service.folder}` });
  const ended = countRefusals(store, () => true);
  const at = new Date().toISOString();
  for (let n = 0; n < 12; n += 1)
    ended.add({ at, source: 'default', reason: 'credential-wrong', isFromSender: false });
  await ended.stop();
  await store.close();

  await fixture.dashboard.go('refusals');
  const row = fixture.dashboard.page.getByRole('row').filter({ hasText: 'match no credential' });
  await row.waitFor();
  expect(await row.innerText()).toContain('12');
  await fixture.dashboard.page.getByText('No request was rejected.').waitFor();
});

it('can all be listed', async () => {
  const { page } = fixture.dashboard;
  for (let n = 0; n < 60; n += 1)
    await sendCallback(fixture.service, `id=j${n}`, '', { 'x-t': 'not-the-secret' }, 'guarded');
  await fixture.dashboard.go('refusals');
  const rows = page.locator('[data-key=list] tbody tr');
  await rows.nth(49).waitFor();
  expect(await rows.count()).toBe(50);
  await page.getByRole('button', { name: 'Load more requests' }).click();
  await rows.nth(59).waitFor();
  await page.getByRole('button', { name: 'Load more requests' }).waitFor({ state: 'detached' });
  // They are no deliveries, and the list of those leads back.
  await fixture.dashboard.go('deliveries?outcome=refused');
  await page.getByText('No delivery matches these filters.').waitFor();
  await page.locator('.empty').getByRole('link', { name: 'Refusals' }).click();
  await rows.first().waitFor();
});

it('say what to do once for each cause, in rows that are short on the phone', async () => {
  const { page } = fixture.dashboard;
  for (let n = 0; n < 9; n += 1)
    await sendCallback(fixture.service, `id=j${n}`, '', { 'x-t': 'not-the-secret' }, 'guarded');
  await sendCallback(fixture.service, 'id=none', '', {}, 'guarded');
  await page.setViewportSize({ width: 390, height: 844 });
  await fixture.dashboard.go('refusals');
  const advice = page.locator('[data-key=advice]').getByRole('listitem');
  await advice.filter({ hasText: '9 requests · The headers match no credential of the source.' }).waitFor();
  const remedies = await advice.locator('p:not(.lead)').allTextContents();
  expect(remedies).toHaveLength(2);
  const text = await page.locator('#content').innerText();
  for (const remedy of remedies) expect([remedy, text.split(remedy).length - 1]).toEqual([remedy, 1]);
  const heights = await page.evaluate<number[]>(
    "[...document.querySelectorAll('[data-key=list] tbody tr')].map((row) => row.offsetHeight)",
  );
  expect(heights).toHaveLength(10);
  expect(Math.max(...heights)).toBeLessThan(130);
});
