import { expect, it } from '@jest/globals';
import { checkCallbacks } from '../../../../src/cli/doctor/check-callbacks.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const HOUR = 3_600_000;

it('does not say that no callbacks came while the receiver that keeps the index cannot write it', async () => {
  const view = {
    refresh: async () => undefined,
    callbacks: async () => ({
      hourSince: Date.now() - HOUR,
      daySince: 0,
      accepted: new Map(),
      refused: [],
      missed: { jobs: 0, lastHour: 0, ofJobs: 0, lastJob: null, bySource: [] },
    }),
    extent: () => ({ since: null, until: new Date(Date.now() - HOUR / 2).toISOString(), missing: [] }),
  };
  const [found] = await checkCallbacks(view as never, createMemoryStore());
  expect(found).toMatchObject({
    verdict: 'skipped',
    message: expect.stringMatching(/^Not in the index of the ledger: lines written after .* status\.$/),
  });
});
