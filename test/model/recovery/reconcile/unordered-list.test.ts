import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { reconcile } from '../../../../src/recovery/reconcile/reconcile.js';
import { createSpeechClients } from '../../../../src/speech/speech.js';
import { visibleKeys } from '../../../support/ledger/ledger-of.js';
import { type ListedJob, startListedService } from '../../../support/recovery/listed-service.js';
import { type RecoveryFixture, recoveryFixture } from '../../../support/recovery/recovery-fixture.js';

const MINUTE = 60_000;
const BEGIN = Date.now() - 2 * 3_600_000;

let fixture: RecoveryFixture;

beforeEach(async () => {
  fixture = await recoveryFixture();
});

afterEach(() => fixture.close());

/** Reconciles against a service that lists these jobs in this order. */
async function reconcileListed(jobs: readonly ListedJob[]) {
  const service = await startListedService(jobs);
  const speech = createSpeechClients({
    apiKey: 'any-key-will-do',
    regions: { eu1: { batchUrl: service.batchUrl } },
    maxRequestsPerSecond: 10_000,
  });
  try {
    const report = await reconcile({ ...fixture.parts, speech }, { since: new Date(0) });
    const keys = await visibleKeys(fixture.folder);
    const stored = new Set(
      keys.filter((key) => key.endsWith('/transcript.json')).map((key) => key.split('/')[1]),
    );
    return { report, stored };
  } finally {
    await speech.close();
    await service.close();
  }
}

/** A job each `every` milliseconds, newest first. */
const jobsEvery = (every: number): ListedJob[] =>
  Array.from({ length: 250 }, (_, index) => ({ id: `j${index}`, createdAt: BEGIN - index * every }));

describe('reconcile with a job list that is not newest first', () => {
  it.each<[string, ListedJob[], RegExp]>([
    ['oldest first', jobsEvery(MINUTE).reverse(), /not newest first .*refetch <job>/],
    ['a crowd in one millisecond', jobsEvery(0), /a whole page .*refetch <job>/],
  ])('does not call the region complete: %s', async (_, jobs, reason) => {
    const { report, stored } = await reconcileListed(jobs);
    expect(stored.size).toBeLessThan(jobs.length);
    expect(report.faults).toEqual([{ region: 'eu1', reason: expect.stringMatching(reason) }]);
    expect(report.regions).toEqual([]);
  });
});
