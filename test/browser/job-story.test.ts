import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { useDashboard } from '../support/dashboard/use-dashboard.js';
import { sendCallback } from '../support/processes/admin-api.js';

const TEXT = { 'content-type': 'text/plain' };
const fixture = useDashboard({ sources: { default: { context: ['customer'], maxBytes: '1KiB' } } });

describe('the page of a job', () => {
  it('says of a transcript that is gone that it is lost, when it was stored, and what it was', async () => {
    const { page } = fixture.dashboard;
    await sendCallback(fixture.service, 'id=gone&status=success', 'Hello', TEXT);
    await rm(join(fixture.service.folder, 'jobs/gone'), { recursive: true });
    await fixture.dashboard.go('jobs/gone');
    await page.getByText(/^Lost from the store: stored at .*, not there now\.$/).waitFor();
    expect(await page.getByText(/Nothing of it|has arrived|[Ss]ubmit/).count()).toBe(0);
    const table = page.getByRole('table', { name: 'Lost from the store' });
    await table.getByText('jobs/gone/transcript.txt').waitFor();
    await page.getByText(/remove the delete markers/).waitFor();
  });

  it('names the sizes of a body that is too large, and the values that the context left out', async () => {
    const { page } = fixture.dashboard;
    await sendCallback(
      fixture.service,
      'id=large&status=success&customer=Acme%20Corp',
      'x'.repeat(2000),
      TEXT,
    );
    await fixture.dashboard.go('jobs/large');
    await page.getByText('The sender announced 2 KiB; the source accepts 1 KiB (maxBytes).').waitFor();
    await page
      .getByText(/^Left out of the context: customer \(not 1 to 128 printable/)
      .first()
      .waitFor();
  });

  it('of a job that the service rejected says that there is no transcript, in its state and its timeline', async () => {
    const { page } = fixture.dashboard;
    await sendCallback(fixture.service, 'id=failed&status=fetch_error', '', {});
    await fixture.dashboard.go('jobs/failed');
    await page
      .getByText(
        'The service reports fetch_error: the service could not fetch the media. Submit the job again.',
      )
      .waitFor();
  });
});
