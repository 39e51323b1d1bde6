import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { reconcile } from '../../../src/recovery/reconcile/reconcile.js';
import { visibleKeys } from '../../support/ledger/ledger-of.js';
import { type RecoveryFixture, recoveryFixture } from '../../support/recovery/recovery-fixture.js';
import { commit, context, putItem } from '../../support/store/archive-fixture.js';

const PAGE = '<!DOCTYPE html><html><body>Maintenance</body></html>';

let fixture: RecoveryFixture;

beforeEach(async () => {
  fixture = await recoveryFixture();
});

afterEach(() => fixture.close());

it.each([
  ['text/html', PAGE, /transcript\.txt is of the foreign type text\/html/],
  ['text/plain', `\ufeff\n${PAGE}`, /is a web page/],
])('a page that comes as %s instead of a text is not archived', async (type, page, reason) => {
  const { simulator, parts, lose } = fixture;
  const jobId = await lose({ contents: ['transcript.txt'] });
  simulator.faults.add({
    ...{ kind: 'answer', operation: 'transcript', status: 200, headers: { 'content-type': type } },
    base64: Buffer.from(page).toString('base64'),
  });
  const { jobs } = await reconcile(parts);
  expect(jobs).toMatchObject([{ jobId, outcome: 'failed', reason: expect.stringMatching(reason) }]);
  expect(await visibleKeys(fixture.folder, 'jobs/')).toEqual([]);

  const callback = parts.archive.begin(context({ jobId }));
  const own = await simulator.expected(jobId)['transcript.txt'].bytes();
  await putItem(callback, { kind: 'transcript.txt', contentType: 'text/plain' }, own);
  expect(await commit(callback)).toMatchObject([{ key: `jobs/${jobId}/transcript.txt`, outcome: 'created' }]);
  expect((await reconcile(parts)).outcomes).toMatchObject({ failed: 0, conflict: 0 });
});
