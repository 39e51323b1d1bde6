import { describe, expect, it } from '@jest/globals';
import { checkCallbacks } from '../../../../src/cli/doctor/check-callbacks.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const HOUR = 3_600_000;

/** An index that has every line until then and no callback. */
function viewUntil(until: number) {
  return {
    refresh: async () => undefined,
    callbacks: async () => ({
      ...{ hourSince: Date.now() - HOUR, daySince: 0, accepted: new Map(), refused: [] },
      missed: { jobs: 0, lastHour: 0, ofJobs: 0, lastJob: null, bySource: [] },
    }),
    extent: () => ({ since: null, until: new Date(until).toISOString(), missing: [] }),
  };
}

describe('the check of callbacks', () => {
  it('does not say that none came while the receiver that keeps the index cannot write it', async () => {
    const [found] = await checkCallbacks(viewUntil(Date.now() - HOUR / 2) as never, createMemoryStore());
    expect(found).toMatchObject({
      verdict: 'skipped',
      message: expect.stringMatching(/^Not in the index of the ledger: lines written after .* status\.$/),
    });
  });

  it('says how many came by an index that is up to date', async () => {
    const [found] = await checkCallbacks(viewUntil(Date.now()) as never, createMemoryStore());
    expect(found).toMatchObject({
      verdict: 'ok',
      message: expect.stringMatching(/ 0 callbacks were accepted/),
    });
  });
});
