import { describe, expect, it } from '@jest/globals';
import { useDashboard } from '../support/dashboard/use-dashboard.js';
import { sendCallback } from '../support/processes/admin-api.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const fixture = useDashboard({
  sources: { default: { maxBytes: '1KiB' }, other: {} },
  speech: {},
});

describe('a receiver that cannot ask the service', () => {
  it.each([
    ['Failures', 'failures', 'Acknowledge… job one', /^Nothing can be refetched: set speech\.apiKey /],
    ['the page of a job', 'jobs/one', 'Import files…', /^The service was not asked: set speech\.apiKey /],
    ['an unknown job', 'jobs/nowhere', 'Import files…', /The service was not asked: set speech\.apiKey /],
    ['Replays', 'replays', 'Preview', /^Nothing can be refetched: set speech\.apiKey /],
  ])('offers no Refetch on %s, and says once which setting is missing', async (_what, path, act, text) => {
    const { page } = fixture.dashboard;
    for (const id of ['one', 'two'])
      await sendCallback(
        fixture.service,
        `id=${id}&status=success`,
        `{"a":"${'x'.repeat(2000)}"}`,
        JSON_TYPE,
      );
    await fixture.dashboard.go(path);
    await page.getByRole('button', { name: act }).first().waitFor();
    expect(await page.getByText(text).count()).toBe(1);
    expect(await page.getByRole('button', { name: /refetch/i }).count()).toBe(0);
    expect(await page.getByText(/^Refetch (jobs from the service|into a source)$/).count()).toBe(0);
    expect(await page.getByText(/^transcript-receiver (reconcile|(replay )?refetch)/).count()).toBe(0);
  });

  it('offers no Refetch instead of a body in quarantine', async () => {
    const { page } = fixture.dashboard;
    await sendCallback(fixture.service, 'id=q1&status=success', 'not a form', {
      'content-type': 'multipart/form-data',
    });
    await fixture.dashboard.go('failures');
    await page.getByRole('link', { name: /^Inspect/ }).click();
    // Failures has a button to release as well.
    await page.getByRole('heading', { name: 'Beginning of the body' }).waitFor();
    expect(await page.getByText(/^Nothing can be refetched: /).count()).toBe(1);
    expect(await page.getByText(/refetch the job/i).count()).toBe(0);
  });
});

describe('the time of a cause', () => {
  it('stands once when the cause has one event', async () => {
    const { page } = fixture.dashboard;
    await sendCallback(fixture.service, 'id=one&status=success', `{"a":"${'x'.repeat(2000)}"}`, JSON_TYPE);
    await fixture.dashboard.go('failures');
    const cause = page.getByRole('list', { name: 'Causes' }).getByRole('listitem');
    await cause.waitFor();
    expect(await cause.locator('time').count()).toBe(1);
  });
});
