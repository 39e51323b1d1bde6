import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useDashboard } from '../support/dashboard/use-dashboard.js';
import { type RecordingServer, recordingServer } from '../support/http/recording-server.js';
import { eventOf } from '../support/outbox/subscribed.js';
import { sendCallback } from '../support/processes/admin-api.js';
import { until } from '../support/until.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SECRET = `whsec_${Buffer.alloc(32, 'browser').toString('base64')}`;
let answer = 410;
/** The requests that have to arrive before one is answered. */
let together = 1;
let crm: RecordingServer;
beforeAll(async () => {
  crm = await recordingServer(async () => {
    await until(() => crm.requests.length >= together);
    return answer;
  });
});
afterAll(() => crm.close());

const fixture = useDashboard(() => ({
  subscribers: { crm: { url: `${crm.url}/hook/secret-in-the-path`, secrets: [SECRET] } },
}));

/** Longer than several updates of the page: a button must not be replaced under the pointer. */
const LOOKED_AT = 11_000;

describe('subscribers', () => {
  it('show what could not be sent, and send it again', async () => {
    const { page } = fixture.dashboard;
    // Both events are under way when the first 410 pauses the subscriber.
    together = 2;
    const headers = { 'content-type': 'application/json' };
    await Promise.all(
      ['call-1', 'call-2'].map((id) =>
        sendCallback(fixture.service, `id=${id}&status=success`, '{"format":"2.9","results":[]}', headers),
      ),
    );
    await fixture.dashboard.go('');
    const tile = page.locator('[data-key=subscribers]');
    await tile.getByText('Events not sent').waitFor();
    await tile.getByText('2', { exact: true }).waitFor();
    await page.locator('.verdict').getByText('2 events for crm could not be sent').waitFor();
    await tile.getByRole('link', { name: 'Inspect and send again' }).click();

    const row = page.getByRole('row').filter({ hasText: 'call-1' });
    await row.getByText('Answered 410: “noted”').waitFor();
    await page.getByRole('button', { name: 'Send a test event to crm' }).click();
    await page.getByText('Test event of crm: Answered 410: “noted”.').waitFor();
    expect(await page.content()).not.toContain('secret-in-the-path');
    await page.getByRole('button', { name: 'Send all 2 again' }).waitFor();
    await page.getByRole('link', { name: 'Select some of them' }).click();
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Would send 2 events').waitFor();
    await fixture.dashboard.go('subscribers');
    const button = await row.getByRole('button', { name: 'Send again' }).elementHandle();
    await sleep(LOOKED_AT);
    expect(await button?.evaluate((element) => element.isConnected)).toBe(true);

    answer = 204;
    const before = crm.requests.length;
    await button?.click();
    await page.getByLabel('Reason').fill('the address is back');
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('heading', { name: 'Replay' }).waitFor();
    await page.getByText('Done').first().waitFor();
    const events = crm.requests.slice(before).map((request) => eventOf(request, SECRET));
    expect(events.map(({ subject }) => subject)).toEqual(['call-1']);

    await fixture.dashboard.go('subscribers');
    await page.getByRole('button', { name: 'Send again the event of job call-2' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Done').first().waitFor();
    await until(() => crm.requests.length === before + 2);
    await fixture.dashboard.go('subscribers');
    await page.getByText('Up to date').waitFor();
    expect(await page.getByText('Events not sent to crm').count()).toBe(0);
  });

  it('show what waits for a retry, and send one event of it again', async () => {
    const { page } = fixture.dashboard;
    answer = 503;
    await sendCallback(fixture.service, 'id=waiting-1&status=success', '{"format":"2.9","results":[]}', {
      'content-type': 'application/json',
    });
    await fixture.dashboard.go('subscribers');
    const row = page.getByRole('table', { name: 'Events that crm did not accept yet' }).getByRole('row', {
      name: /waiting-1/,
    });
    await row.getByText('Answered 503: “noted”').first().waitFor();
    await page.getByRole('row', { name: /^crm/ }).getByText('Sending').waitFor();
    expect(await page.getByRole('link', { name: 'waiting-1' }).count()).toBe(1);
    await page.evaluate(AXE);
    expect(
      await page.evaluate('axe.run(document).then(({ violations }) => violations.map(({ id }) => id))'),
    ).toEqual([]);
    answer = 204;
    await row.getByRole('button', { name: 'Send again the event of job waiting-1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Done').first().waitFor();
    await fixture.dashboard.go('subscribers');
    await page.getByText('Up to date').waitFor();
  });

  it('say until when one is paused, and how many events were not tried meanwhile', async () => {
    const { page } = fixture.dashboard;
    const store = (id: string) =>
      sendCallback(fixture.service, `id=${id}&status=success`, '{"format":"2.9","results":[]}', {
        'content-type': 'application/json',
      });
    answer = 410;
    await store('gone-1');
    await fixture.dashboard.go('subscribers');
    const crm = page.getByRole('row', { name: /^crm/ });
    await crm.getByText(/^Paused since [\d:]+ until [\d:]+, then one event at a time is tried/).waitFor();
    await Promise.all(['untried-1', 'untried-2'].map(store));
    await crm.getByText('2 are not tried yet').waitFor();
    answer = 204;
    // A test event that is accepted ends the pause.
    await page.getByRole('button', { name: 'Send a test event to crm' }).click();
    await crm.getByText('Paused', { exact: true }).waitFor({ state: 'detached' });
    await crm.getByText('none waits').waitFor();
    // A single event that ended unsent has one button.
    await page.getByRole('button', { name: 'Send again the event of job gone-1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await page.getByText('Done').first().waitFor();
    await fixture.dashboard.go('subscribers');
    await page.getByText('Up to date').waitFor();
  });
});
