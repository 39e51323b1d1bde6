import { expect, it } from '@jest/globals';
import { countRefusals } from '../../src/archive/count-refusals.js';
import { openStore } from '../../src/store/open-store.js';
import { useDashboard } from '../support/dashboard/use-dashboard.js';

const fixture = useDashboard();

it('of all replicas, and before a restart, are counted by cause above those of this replica', async () => {
  const store = await openStore({ url: `file:${fixture.service.folder}` });
  const ended = countRefusals(store, () => true);
  const at = new Date().toISOString();
  for (let n = 0; n < 12; n += 1) ended.add({ at, source: 'default', reason: 'credential-wrong' });
  await ended.stop();
  await store.close();

  await fixture.dashboard.go('refusals');
  const row = fixture.dashboard.page.getByRole('row').filter({ hasText: 'match no credential' });
  await row.waitFor();
  expect(await row.innerText()).toContain('12');
  await fixture.dashboard.page.getByText('No request was rejected.').waitFor();
});
