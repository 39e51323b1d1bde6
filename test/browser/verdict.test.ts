import { describe, expect, it } from '@jest/globals';
import { useDashboard } from '../support/dashboard/use-dashboard.js';
import { sendCallback } from '../support/processes/admin-api.js';
import { until } from '../support/until.js';

/** The light of the overview, in the four states that an operator must tell apart at a glance. */

const JSON_TYPE = { 'content-type': 'application/json' };
const TRANSCRIPT = JSON.stringify({ format: '2.9', job: { id: 'j' }, metadata: {}, results: [] });
const SOURCES = {
  default: {},
  intake: { credentials: { main: { headers: ['X-T: a-secret-of-sixteen'] } } },
};

type Fixture = ReturnType<typeof useDashboard>;

const banner = ({ dashboard }: Fixture) => dashboard.page.locator('.verdict');
const tile = ({ dashboard }: Fixture, title: string) =>
  dashboard.page.locator('.tile').filter({ has: dashboard.page.getByRole('heading', { name: title }) });

describe('the light', () => {
  const fixture = useDashboard({ sources: SOURCES, recovery: { interval: '1s' } });

  it('is green when callbacks are accepted and every job was seen, of addresses of no region as well', async () => {
    await sendCallback(fixture.service, 'id=first-job&status=success', TRANSCRIPT, JSON_TYPE);
    await banner(fixture).getByText('All is well').waitFor();
    await fixture.dashboard.page.getByText('Facts behind the verdict').click();
    const callbacks = tile(fixture, 'Callbacks');
    await callbacks.getByText('Accepted', { exact: true }).waitFor();
    expect(await callbacks.getAttribute('class')).toContain('good');
    // In its first second it is "just now".
    await tile(fixture, 'Last callback by region')
      .filter({ hasText: /other addresses\d+ s ago/ })
      .waitFor();
  });

  it('is red when a sender has the wrong secret, and says which source, which cause and what to do', async () => {
    for (let n = 0; n < 6; n += 1)
      await sendCallback(
        fixture.service,
        `id=j${n}&status=success`,
        '',
        { 'x-t': 'not-the-secret' },
        'intake',
      );
    await banner(fixture).getByText('Act now').waitFor();
    const issue = banner(fixture).locator('.issue').first();
    await until(async () => (await issue.textContent())?.startsWith('6 callbacks') === true);
    expect(await issue.textContent()).toMatch(
      /^6 callbacks to intake were rejected since .*: the headers match no credential of the source\. .*transcript-receiver notification-config intake prints/,
    );
    const callbacks = tile(fixture, 'Callbacks');
    expect(await callbacks.getAttribute('class')).toContain('bad');
    await callbacks.getByText('Refused', { exact: true }).waitFor();
    await issue.getByRole('link').click();
    await fixture.dashboard.page.getByRole('heading', { name: 'Refusals' }).waitFor();
  });

  it('does not call complete what no reconcile could see', async () => {
    fixture.lost.simulator.faults.add({ kind: 'answer', operation: 'list', status: 401 });
    const expected = tile(fixture, 'Expected and received');
    await expected.getByText('Unknown', { exact: true }).waitFor();
    expect(await expected.getAttribute('class')).toContain('neutral');
    expect(await expected.textContent()).not.toMatch(/Complete|0 of 0|Every expected/);
  });
});

describe('the light beside a subscriber that is down', () => {
  const fixture = useDashboard({
    sources: SOURCES,
    recovery: { interval: '1s' },
    subscribers: {
      crm: {
        url: 'http://127.0.0.1:9/events',
        secrets: [`whsec_${Buffer.from('a secret of some 24 bytes').toString('base64')}`],
      },
    },
  });

  it('is yellow, on the overview and on the page of subscribers', async () => {
    for (let n = 0; n < 12; n += 1)
      await sendCallback(fixture.service, `id=j${n}&status=success`, TRANSCRIPT, JSON_TYPE);
    const subscribers = tile(fixture, 'Subscribers');
    await subscribers.getByText('Paused', { exact: true }).waitFor();
    expect(await subscribers.getAttribute('class')).toContain('notice');
    expect(await subscribers.locator('.status.good').count()).toBe(0);
    await banner(fixture)
      .getByText(/^Sending to crm has been paused since .* ECONNREFUSED\./)
      .waitFor();
    await fixture.dashboard.go('subscribers');
    await fixture.dashboard.page.locator('.status.notice').getByText('Paused').waitFor();
    expect(await fixture.dashboard.page.locator('main .status.good').count()).toBe(0);
  });
});
