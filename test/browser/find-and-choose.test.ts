import { describe, expect, it } from '@jest/globals';
import { useDashboard } from '../support/dashboard/use-dashboard.js';
import { sendCallback } from '../support/processes/admin-api.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const PHONE = { viewport: { width: 360, height: 740 } };
const words = (text: string) => ({
  format: '2.9',
  job: { id: 'j' },
  metadata: {},
  results: text
    .split(' ')
    .map((content, n) => ({ type: 'word', start_time: n, end_time: n + 1, alternatives: [{ content }] })),
});

const fixture = useDashboard({ sources: { default: { context: ['customer'] } } }, PHONE);

const send = (id: string, text: string, customer = 'acme') =>
  sendCallback(
    fixture.service,
    `id=${id}&status=success&customer=${customer}`,
    JSON.stringify(words(text)),
    JSON_TYPE,
  );

async function find(text: string): Promise<void> {
  const { page } = fixture.dashboard;
  const field = page.getByLabel('Find a job by its id or context');
  await field.fill(text);
  await field.press('Enter');
}

describe('the search, on a phone', () => {
  it('opens the job that an id, a value of a context or a part of either fits, and lists several', async () => {
    const { page } = fixture.dashboard;
    await send('abc123', 'one', 'acme');
    await send('abd456', 'two', 'acme');
    await send('xyz789', 'three', 'Globex-7');
    await send('qrs000', 'four', '7');
    for (const [text, id] of [
      ['abc123', 'abc123'],
      ['Globex-7', 'xyz789'],
      ['7', 'qrs000'],
      ['d456', 'abd456'],
    ] as const) {
      await find(text);
      await page.getByRole('heading', { name: `Job ${id}` }).waitFor();
    }
    await find('acme');
    await page.getByRole('heading', { name: 'Search: acme' }).waitFor();
    await page.getByRole('link', { name: 'abd456' }).waitFor();
    await page.getByRole('link', { name: 'abc123' }).click();
    await page.getByRole('heading', { name: 'Job abc123' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= 360')).toBe(true);
  });

  it('leads to what can be done about a job that is not here', async () => {
    const { page } = fixture.dashboard;
    const id = await fixture.lost.lose();
    await find(id);
    await page.getByText(`transcript-receiver refetch ${id}`).waitFor();
    await find('nobody-knows');
    await page.getByText(/^This receiver does not know the job, and the service does not/).waitFor();
    await page.getByRole('link', { name: /A transcript is missing/ }).click();
    await page.getByRole('heading', { name: 'A transcript is missing' }).waitFor();
  });
});

describe('two versions', () => {
  it('are listed, and one is chosen with a reason that stays on the page', async () => {
    const { page } = fixture.dashboard;
    await send('j1', 'the first version');
    await send('j1', 'the second version');
    await fixture.dashboard.go('jobs/j1');
    await page.getByRole('button', { name: /^Keep…/ }).click();
    expect(await page.getByRole('link', { name: /A transcript is missing/ }).count()).toBe(0);
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This continues to count:').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^Choose…/ }).press('Enter');
    await dialog.getByText('This counts from now on:').waitFor();
    await dialog
      .getByRole('listitem')
      .getByText(/^transcript \(json-v2\) of .* SHA-256 [0-9a-f]{12}$/)
      .waitFor();
    await dialog.getByLabel('Reason').fill('the customer says so');
    await dialog.getByRole('button', { name: 'Choose', exact: true }).click();
    await page.locator('#notice').getByText('counts now').waitFor();
    await page.getByText('Chosen by tester: the customer says so').waitFor();
    await page.locator('.heading').getByText('Chosen').waitFor();
    const text = page.locator('.transcript .word');
    await text.first().waitFor();
    expect(await text.allTextContents()).toEqual(expect.arrayContaining([expect.stringMatching('second')]));
    const noticeFits =
      'document.querySelector("#notice").scrollWidth <= document.querySelector("#notice").clientWidth';
    expect(await page.evaluate(noticeFits)).toBe(true);
    // Two versions and a copy of the one that counts, which is the first; nothing is left to keep.
    expect(await page.getByRole('button', { name: /^json-v2/ }).count()).toBe(2);
    const artefacts = page.getByRole('table', { name: 'Artefacts' }).locator('.status');
    expect(await artefacts.allTextContents()).toEqual(['Counts now', 'Copy of what counts', 'Conflict']);
    expect(await page.getByRole('button', { name: /^Keep…/ }).count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth <= 360')).toBe(true);
  });

  it('are chosen with what arrived with them', async () => {
    const { page } = fixture.dashboard;
    for (const text of ['first', 'second']) {
      const form = new FormData();
      form.append('transcript', new Blob([JSON.stringify(words(text))], { type: 'application/json' }));
      form.append('data', new Blob([text], { type: 'audio/wav' }), 'data.wav');
      await sendCallback(fixture.service, 'id=j2&status=success', form);
    }
    await fixture.dashboard.go('jobs/j2');
    await page
      .getByRole('button', { name: /^Choose…/ })
      .first()
      .click();
    await page
      .getByRole('dialog')
      .getByText(/^media of/)
      .waitFor();
    await page.getByRole('dialog').getByLabel('Reason').fill('the second run');
    await page.keyboard.press('Enter');
    await page.getByText('Media, another version counts.').waitFor();
    await page.getByText('Transcript (json-v2), another version counts.').waitFor();
  });
});
