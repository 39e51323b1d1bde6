import { describe, expect, it } from '@jest/globals';
import { useDashboard } from '../support/dashboard/use-dashboard.js';

const fixture = useDashboard({}, { signedIn: false });

const FOCUSED =
  "(() => { const e = document.activeElement; return (e.getAttribute('aria-label') ?? e.textContent ?? '').trim() || e.id; })()";

/** Presses Tab until an element with that name has the focus. */
async function tabTo(name: RegExp | string): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < 80; step += 1) {
    await fixture.dashboard.page.keyboard.press('Tab');
    const focused = String(await fixture.dashboard.page.evaluate(FOCUSED));
    passed.push(focused.slice(0, 40));
    if (typeof name === 'string' ? focused === name : name.test(focused)) return;
  }
  throw new Error(`Tab never reached ${name}; it passed ${passed.join(', ')}`);
}

describe('without a mouse', () => {
  it('a user can sign in, find a job, repair it and read its transcript', async () => {
    const { page } = fixture.dashboard;
    const { keyboard } = page;
    const id = await fixture.lost.lose();
    await page.getByLabel('Token').waitFor();
    await keyboard.type(fixture.service.adminToken);
    await keyboard.press('Enter');
    await page.locator('.verdict').waitFor();
    await tabTo('find-job');
    await keyboard.type(id);
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: `Job ${id}` }).waitFor();
    expect(await page.evaluate(FOCUSED)).toBe(`Job ${id}`);
    await page.getByRole('button', { name: 'Refetch from the service' }).waitFor();
    await tabTo('Refetch from the service');
    await keyboard.press('Enter');
    await page.locator('#notice').getByText('recovered').waitFor();
    await page.locator('.transcript .word').first().waitFor();
    // The step has done its work and is gone: the next Tab begins at the job, not at the top of the page.
    expect(await page.evaluate(FOCUSED)).toBe(`Job ${id}`);
    await tabTo('Text of the transcript');
  });

  it('the first stop skips the navigation, and the focus is always visible', async () => {
    const { page } = fixture.dashboard;
    await page.getByLabel('Token').fill(fixture.service.adminToken);
    await page.keyboard.press('Enter');
    await page.locator('.verdict').waitFor();
    await page.reload();
    await page.locator('.verdict').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(FOCUSED)).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    for (let step = 0; step < 12; step += 1) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    }
  });
});
