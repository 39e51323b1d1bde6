import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDashboard } from '../support/dashboard/use-dashboard.js';
import { sendCallback } from '../support/processes/admin-api.js';
import { sendMendable } from '../support/processes/mendable-callback.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const TRANSCRIPT = JSON.stringify({
  format: '2.9',
  metadata: {},
  results: [
    {
      type: 'word',
      start_time: 0.5,
      end_time: 1,
      alternatives: [{ content: 'Welcome', confidence: 1, speaker: 'S1' }],
    },
    {
      type: 'word',
      start_time: 65,
      end_time: 66,
      alternatives: [{ content: 'Thanks', confidence: 1, speaker: 'S2' }],
    },
  ],
});

/** More than the source takes. */
const LARGE = JSON.stringify({ format: '2.9', metadata: {}, results: [], filler: 'x'.repeat(600_000) });

const SECRET = 'a-secret-of-sixteen';
const fixture = useDashboard({
  sources: {
    default: { maxBytes: '512KiB' },
    guarded: { maxBytes: '512KiB', credentials: { main: { headers: [`X-T: ${SECRET}`] } } },
  },
});

const artefacts = (page: Page) => page.getByRole('region', { name: 'Artefacts' });

describe('a job that failed', () => {
  it('is seen, refetched, and turns good', async () => {
    const { page } = fixture.dashboard;
    const id = await fixture.lost.lose();
    fixture.lost.simulator.faults.add({ kind: 'answer', operation: 'transcript', status: 500, body: {} });
    await fixture.dashboard.go(`jobs/${id}`);
    await page.getByRole('button', { name: 'Refetch from the service' }).click();
    await page.locator('#notice').getByText(`Job ${id}: failed`).waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.locator('.verdict').getByText('1 job is failing: 1 not fetched.').waitFor();
    await page.getByRole('link', { name: 'Inspect and repair' }).click();
    const row = page.getByRole('row').filter({ hasText: id });
    await row.getByText('Failed').waitFor();
    fixture.lost.simulator.faults.clear();
    await row.getByRole('button', { name: `Refetch ${id}` }).click();
    await page.locator('#notice').getByText(`Job ${id}: recovered`).waitFor();
    await page.getByText('No job is failing.').waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.locator('.verdict').getByText('reconcile has never run').waitFor();
    await fixture.dashboard.go(`jobs/${id}`);
    await page.locator('.transcript .word').first().waitFor();
    await artefacts(page).getByText('refetched by tester').first().waitFor();
  });

  it('can be found among many, and settled without being erased', async () => {
    const { page } = fixture.dashboard;
    for (let index = 0; index < 60; index += 1)
      await sendCallback(fixture.service, `id=bulk${index}&status=success`, LARGE, JSON_TYPE);
    await sendCallback(fixture.service, 'id=two&status=success', TRANSCRIPT, JSON_TYPE);
    await sendCallback(fixture.service, 'id=two&status=success', `${TRANSCRIPT} `, JSON_TYPE);
    await fixture.dashboard.go('failures');
    await page.getByText('61 jobs: 60 refused, 1 conflict.').waitFor();
    expect(await page.getByRole('row').count()).toBe(0);
    await page.getByText('The 20 jobs that the service deletes first').click();
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByRole('row').filter({ hasText: 'bulk59' }).waitFor();
    await page.getByRole('combobox', { name: 'Outcome' }).selectOption('conflict');
    await page.getByText('1 job: 1 conflict.').waitFor();
    await page.getByRole('button', { name: 'Acknowledge… job two' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('the first is right');
    await dialog.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByText('No failing job matches these filters.').waitFor();
    await page.getByRole('link', { name: 'Clear all filters' }).click();
    await page.getByText(/^60 jobs: 60 refused\./).waitFor();
    const cause = page.getByRole('list', { name: 'Causes' }).getByRole('listitem');
    await cause.getByText('60 jobs · The body was larger than maxBytes of the source').waitFor();
    await cause.getByRole('button', { name: 'Refetch all 60 jobs…' }).click();
    await page.getByRole('dialog', { name: 'Refetch 60 jobs?' }).waitFor();
    await page.keyboard.press('Escape');
    await cause.getByRole('button', { name: 'Acknowledge all 60 jobs…' }).click();
    const all = page.getByRole('dialog', { name: 'Acknowledge 60 jobs?' });
    await all.getByLabel('Reason').fill('test calls');
    await all.getByRole('button', { name: 'Acknowledge all' }).click();
    await page.getByText('No job is failing.').waitFor();
    await fixture.dashboard.go('jobs/two');
    await page.getByText('Acknowledged by tester: the first is right', { exact: true }).waitFor();
  });

  it('offers no act in vain while nobody knows it, and offers Refetch when the service does', async () => {
    const { page } = fixture.dashboard;
    const id = await fixture.lost.lose();
    const acts = page.getByRole('button', { name: /^(Refetch|Erase|Import)/ });
    await fixture.dashboard.go('jobs/a.file.wav');
    await page.getByText('No job can have this id.').waitFor();
    expect(await acts.allTextContents()).toEqual([]);
    fixture.lost.simulator.faults.add({ kind: 'answer', operation: 'record', status: 500, body: {} });
    await fixture.dashboard.go(`jobs/${id}`);
    await page.getByText('This receiver does not know the job.').waitFor();
    await page.getByText(/The service did not answer for this job\./).waitFor();
    expect(await acts.allTextContents()).toEqual(['Import files…']);
    fixture.lost.simulator.faults.clear();
    await page.getByRole('button', { name: 'Refetch from the service' }).waitFor();
  });
});

describe('quarantined bodies', () => {
  it('can all be listed', async () => {
    const { page } = fixture.dashboard;
    await fixture.dashboard.go('failures');
    await page.getByText('Quarantine is empty.').waitFor();
    await fixture.dashboard.go('');
    for (let n = 0; n < 22; n += 1)
      await sendCallback(fixture.service, `id=broken${n}&status=success`, '{', JSON_TYPE);
    await fixture.dashboard.go('failures');
    await page.getByText('The newest 20; more are waiting').click();
    await page.getByRole('button', { name: 'Load more bodies' }).click();
    await page
      .getByRole('row')
      .filter({ hasText: /broken0\b/ })
      .waitFor();
    await page.getByText('22 bodies').waitFor();
  });
});

describe('more than three causes', () => {
  it('fit on a phone: each is a line, and what can be done is behind it', async () => {
    const { page } = fixture.dashboard;
    const guarded = { ...JSON_TYPE, 'x-t': SECRET };
    for (const [source, headers] of [['default', JSON_TYPE] as const, ['guarded', guarded] as const]) {
      const sendTo = (id: string, body: string) =>
        sendCallback(fixture.service, `id=${id}-${source}&status=success`, body, headers, source);
      await sendTo('large', LARGE);
      await sendTo('two', TRANSCRIPT);
      await sendTo('two', `${TRANSCRIPT} `);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await fixture.dashboard.go('failures');
    const causes = page.getByRole('list', { name: 'Causes' });
    const large = causes.locator('summary', { hasText: /The body was larger .* · guarded/ });
    await large.waitFor();
    expect((await causes.boundingBox())?.height).toBeLessThan(450);
    expect(await causes.getByRole('button').count()).toBe(0);
    await large.press('Enter');
    await causes.getByRole('link', { name: 'Show only these' }).press('Enter');
    await causes.getByRole('button', { name: 'Refetch 1 job…' }).waitFor();
    await page.getByRole('button', { name: 'Refetch large-guarded' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'two' }).first().waitFor({ state: 'detached' });
  });
});

describe('two versions of a transcript', () => {
  const version = (...words: string[]) =>
    JSON.stringify({
      format: '2.9',
      metadata: {},
      results: words.map((content, index) => ({
        type: 'word',
        start_time: index,
        end_time: index + 1,
        alternatives: [{ content, confidence: 1 }],
      })),
    });
  const send = (id: string, body: string) =>
    sendCallback(fixture.service, `id=${id}&status=success`, body, JSON_TYPE);

  it('can both be read, and are settled by keeping the one that counts', async () => {
    const { page } = fixture.dashboard;
    await send('both', version('We', 'meet', 'on', 'Monday'));
    await send('both', version('We', 'meet', 'on', 'Tuesday', 'then'));
    await fixture.dashboard.go('failures');
    await page.getByRole('link', { name: 'Decide both' }).click();
    const text = page.getByRole('region', { name: 'Text of the transcript' });
    await text.getByText('Monday').waitFor();
    await page.getByRole('button', { name: /^json-v2, other/ }).click();
    await text.getByText('Tuesday').waitFor();
    // An erased job takes no import: advice to erase in order to choose would destroy both versions.
    expect(
      await page
        .locator('#next')
        .locator('..')
        .getByText(/erase|import/i)
        .count(),
    ).toBe(0);
    // One way to settle it.
    expect(await page.getByRole('button', { name: 'Acknowledge… job both' }).count()).toBe(0);
    await page.getByRole('button', { name: /^Keep…/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('Monday is right');
    await dialog.getByRole('button', { name: 'Keep' }).click();
    await page.locator('h1 ~ .status').getByText('Chosen').waitFor();
    // The button is gone: the keyboard goes on from the heading.
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Job both');
  });
});

describe('a quarantined body', () => {
  it('is released after the program was mended', async () => {
    const { page } = fixture.dashboard;
    const form = new FormData();
    form.append('transcript', new Blob([TRANSCRIPT]), 'transcript.json');
    form.append('jobinfo', new Blob(['{"id":"r1"}']), 'jobinfo.json');
    const { mend } = await sendMendable(fixture.service, 'id=r1&status=success', form);
    await mend();
    await fixture.dashboard.go('failures');
    await page.getByText('The multipart boundary is missing or invalid.').waitFor();
    await page.getByRole('link', { name: 'Inspect' }).click();
    await page.getByText('Can be decoded now').waitFor();
    await page.getByText('Releasing it stores: transcript (json-v2) and job information.').waitFor();
    await page.getByRole('button', { name: 'Release', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('decoder mended');
    await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click();
    await page.locator('#notice').getByText('Released: 2 items stored.').waitFor();
    await page.getByText('Released by tester').waitFor();
    await page.getByRole('link', { name: 'r1', exact: true }).click();
    await page.getByText('Released by tester: decoder mended', { exact: true }).waitFor();
    await artefacts(page).getByText('released by tester').first().waitFor();
    await page.getByText('Welcome').waitFor();
  });

  it('that nothing needs is dismissed with a reason, on the list and on the page of its job', async () => {
    const { page } = fixture.dashboard;
    for (const id of ['test1', 'test2'])
      await sendCallback(fixture.service, `id=${id}&status=success`, '{"broken', JSON_TYPE);
    const dismiss = async (reason: string) => {
      const dialog = page.getByRole('dialog');
      await dialog.getByText('The ledger records who dismissed it and why.').waitFor();
      await dialog.getByRole('button', { name: 'Dismiss' }).click();
      await dialog.getByLabel('Reason').fill(reason);
      await dialog.getByRole('button', { name: 'Dismiss' }).click();
    };
    await page.getByText('2 undecodable bodies wait in quarantine.').waitFor();
    await fixture.dashboard.go('failures');
    await page.getByRole('button', { name: 'Dismiss… the body of job test1' }).click();
    await dismiss('a test call');
    await page.locator('#notice').getByText('The body of job test1 was dismissed.').waitFor();
    await page.getByRole('row').filter({ hasText: 'test1' }).waitFor({ state: 'detached' });
    await fixture.dashboard.go('jobs/test2');
    await page.getByRole('heading', { name: 'In quarantine' }).waitFor();
    await page.getByRole('button', { name: 'Dismiss… the body of job test2' }).click();
    await dismiss('sent by hand');
    await page
      .getByText(/^The body was dismissed by tester at .*: sent by hand\.$/)
      .first()
      .waitFor();
    await page.getByText('Dismissed by tester: sent by hand', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: /^Dismiss…/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'Inspect', exact: true }).click();
    await page.getByText(/^The body was dismissed by tester .* The body stays\.$/).waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('0 released, 2 settled so far').waitFor();
    await page.getByText(/undecodable/).waitFor({ state: 'detached' });
  });
});

describe('an imported transcript', () => {
  it('is imported, read with its speakers, and downloaded', async () => {
    const { page } = fixture.dashboard;
    await fixture.dashboard.go('jobs/by-hand');
    await page.getByRole('button', { name: 'Import files…' }).click();
    const buffer = Buffer.from(TRANSCRIPT);
    await page
      .getByLabel('File', { exact: true })
      .setInputFiles({ name: 'from-backup.json', mimeType: 'application/json', buffer });
    await page.getByLabel('Reason').fill('from the backup');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.locator('#notice').getByText('Import: stored, transcript (json-v2).').waitFor();
    await page.getByText('Imported by tester: from the backup', { exact: true }).waitFor();
    await page.getByText('Stored: transcript (json-v2).', { exact: true }).waitFor();
    await page.locator('.transcript .turn').first().waitFor();
    expect(await page.locator('.transcript .turn').allTextContents()).toEqual([
      '0:00 Speaker S1 Welcome',
      '1:05 Speaker S2 Thanks',
    ]);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download transcript.json' }).click(),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).equals(buffer)).toBe(true);
  });

  it('is erased only when its id was typed', async () => {
    const { page } = fixture.dashboard;
    await sendCallback(fixture.service, 'id=gone1&status=success', TRANSCRIPT, JSON_TYPE);
    await fixture.dashboard.go('jobs/gone1');
    await page.getByRole('button', { name: 'Erase…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type gone1 to confirm').fill('gone2');
    expect(await dialog.getByRole('button', { name: 'Erase permanently' }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Erase…');
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Type gone1 to confirm').fill('gone1');
    await page.keyboard.press('Enter');
    await page.locator('#notice').getByText('Job gone1 was erased: 1 artefact').waitFor();
    await page.getByText(/^Erased by tester: 1 artefact erased/).waitFor();
    await page.getByText('Nothing is stored.').waitFor();
    // Whatever is tried with an erased job is refused.
    for (const name of ['Refetch from the service', 'Import files…', 'Erase…'])
      expect([name, await page.getByRole('button', { name }).count()]).toEqual([name, 0]);
    expect(await page.getByText('Import files').count()).toBe(0);
  });
});

describe('a refusal', () => {
  it('leads to Explain with all filled in that was kept of it, which says what would have to change', async () => {
    const { page } = fixture.dashboard;
    const headers = { ...JSON_TYPE, 'x-forwarded-for': '203.0.113.9' };
    expect((await sendCallback(fixture.service, 'id=j&status=success', TRANSCRIPT, headers)).status).toBe(
      403,
    );
    await fixture.dashboard.go('refusals');
    await page.getByRole('link', { name: 'Explain requests from 127.0.0.1' }).click();
    expect(await page.getByLabel('Headers').inputValue()).toBe('X-Forwarded-For: 203.0.113.9');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('Rejected with 403').waitFor();
    await page
      .getByText(/accepts no request with X-Forwarded/)
      .first()
      .waitFor();
    await page.getByText('sources.default.credentials:').waitFor();
    await page.getByText(/X-Forwarded-For was ignored, because the peer 127.0.0.1/).waitFor();
    await page.getByText('Client address').waitFor();
    expect(await page.locator('.result dt').allTextContents()).toEqual(['Client address', 'Region']);
  });

  it('for a wrong credential says so, and checks the headers that the operator adds', async () => {
    const { page } = fixture.dashboard;
    await sendCallback(fixture.service, 'id=j', '', { 'x-t': 'not-the-secret' }, 'guarded');
    await fixture.dashboard.go('refusals');
    const row = page.locator('[data-key=list]').getByRole('row').filter({ hasText: 'guarded' });
    await row.getByText('The headers match no credential of the source.').waitFor();
    await row.getByRole('link', { name: 'Explain' }).click();
    const result = page.locator('.result');
    await page.getByLabel('Headers').fill('X-T: not-the-secret');
    await page.getByRole('button', { name: 'Explain' }).click();
    await result.getByText('main comes closest: x-t is different').waitFor();
  });
});
