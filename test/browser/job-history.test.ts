import { describe, expect, it } from '@jest/globals';
import { useDashboard } from '../support/dashboard/use-dashboard.js';
import { accessLinesOf } from '../support/ledger/ledger-of.js';
import { adminApi, sendCallback } from '../support/processes/admin-api.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const TRANSCRIPT = JSON.stringify({ format: '2.9', metadata: {}, results: [] });
const anna = { token: 'token-of-anna-0123456789', may: ['view', 'read'] };
const ben = { token: 'token-of-ben-0123456789ab', may: ['view', 'read'] };
const fixture = useDashboard({ admin: { tokens: { anna, ben } } });

/** Two versions of a transcript, each of which both operators look at. */
async function readByTwo(jobId: string): Promise<void> {
  for (const body of [TRANSCRIPT, `${TRANSCRIPT} `])
    await sendCallback(fixture.service, `id=${jobId}&status=success`, body, JSON_TYPE);
  const { artefacts } = (await adminApi(fixture.service).get(`/jobs/${jobId}`)).body;
  expect(artefacts).toHaveLength(2);
  for (const { token } of [anna, ben])
    for (const { key } of artefacts as { key: string }[])
      await adminApi(fixture.service, token).get(`/jobs/${jobId}/artefacts/${key}`).expect(200);
}

describe('the timeline of a job', () => {
  it('folds accesses into one line that unfolds, and stays unfolded while the page is updated', async () => {
    const { page } = fixture.dashboard;
    await readByTwo('seen');
    await fixture.dashboard.go('jobs/seen');
    const timeline = page.getByRole('region', { name: 'Timeline' });
    const summary = timeline.getByText(
      /^\d+ accesses to content by (anna and ben|anna, ben and tester), the last at /,
    );
    await summary.waitFor();
    const shown = timeline.locator('ol').first().locator('> li .title');
    expect(await shown.allTextContents()).toEqual([
      'A callback arrived and was stored: transcript (json-v2)',
      'A callback had different bytes; the first version is kept, and this one is stored next to it',
    ]);
    expect(await timeline.getByText('By anna from 127.0.0.1.').first().isVisible()).toBe(false);
    await summary.click();
    await timeline.getByText('By anna from 127.0.0.1.').nth(1).waitFor();
    await timeline.getByText('By ben from 127.0.0.1.').nth(1).waitFor();
    await adminApi(fixture.service, anna.token).post('/jobs/seen/ticket').expect(200);
    await timeline.getByText('By anna from 127.0.0.1.').nth(2).waitFor();
    const lines = await accessLinesOf(fixture.service.folder);
    const accesses = lines.filter(({ jobId }) => jobId === 'seen').length;
    await timeline.getByText(`${accesses} accesses to content by anna, ben and tester, `).waitFor();
    expect(await timeline.locator('details li').count()).toBe(accesses);
  });

  it('counts no access where nothing is stored, and leaves what to do next to the steps', async () => {
    const { page } = fixture.dashboard;
    await sendCallback(fixture.service, 'id=broken&status=success', '{"format":', JSON_TYPE);
    await fixture.dashboard.go('jobs/broken');
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText('A callback could not be decoded: ').waitFor();
    await page.getByRole('region', { name: 'What to do next' }).waitFor();
    expect(await timeline.getByText('Refetch the job').count()).toBe(0);
    const lines = await accessLinesOf(fixture.service.folder);
    expect(lines.filter(({ jobId }) => jobId === 'broken')).toEqual([]);
  });

  it('shows an access unfolded to a link that names it', async () => {
    const { page } = fixture.dashboard;
    await readByTwo('seen');
    const { body } = await adminApi(fixture.service).get('/deliveries?origin=admin&job=seen');
    await fixture.dashboard.go(`jobs/seen?delivery=${body.deliveries[0].deliveryId}`);
    await page.locator('.chosen').getByText('By ben from 127.0.0.1.').waitFor();
  });

  it('names an act, who did it, and why, as typed; and so does the list of deliveries', async () => {
    const { page } = fixture.dashboard;
    await readByTwo('both');
    const reason = 'iPhone: the first is right. Done.';
    await adminApi(fixture.service).post('/jobs/both/acknowledge').send({ reason }).expect(200);
    await fixture.dashboard.go('jobs/both');
    await page.getByText(`Acknowledged by tester: ${reason}`, { exact: true }).waitFor();
    await fixture.dashboard.go('deliveries?acts=with');
    const row = page.getByRole('row').filter({ hasText: 'Acknowledged' });
    await row.getByText('acknowledged by tester').waitFor();
    await row.getByText(reason, { exact: true }).waitFor();
  });
});
