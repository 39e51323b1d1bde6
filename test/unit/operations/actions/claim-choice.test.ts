import { expect, it } from '@jest/globals';
import { claimChoice } from '../../../../src/operations/actions/claim-choice.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const HOUR = 3_600_000;
const PLACE = { folder: 'jobs/job1/', path: 'transcript.json' };

it.each([-HOUR, HOUR])(
  'keeps two choices apart where the clock of this machine is %s ms from that of the store',
  async (offset) => {
    const memory = createMemoryStore(undefined, () => Date.now() + offset);
    const store = { ...memory, clockOffset: () => offset };
    await claimChoice(store, PLACE, 'one');
    await expect(claimChoice(store, PLACE, 'another')).rejects.toMatchObject({ code: 'conflict' });
  },
);

it('goes on where a choice died before the clock was set back', async () => {
  let ahead = 24 * HOUR;
  const store = createMemoryStore(undefined, () => Date.now() + ahead);
  await claimChoice(store, PLACE, 'one');
  ahead = 0;
  await expect(claimChoice(store, PLACE, 'another')).resolves.toBeDefined();
});
