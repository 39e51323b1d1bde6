import { describe, expect, it } from '@jest/globals';
import { createBodyCheck } from '../../../../src/operations/actions/body-check.js';
import { quarantinedRequest } from '../../../support/quarantined-request.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const SOURCES = new Map([
  ['default', { contents: ['transcript'], keyPrefix: '' }],
  ['media', { contents: ['data', 'transcript:srt'], keyPrefix: 'media/' }],
  ['bare', { contents: [], keyPrefix: '' }],
]);
const ID = '01K0000000000000000000000A';

/** @param query added to the query of the body */
async function isStored(keys: readonly string[], query = '', overrides: object = {}): Promise<boolean> {
  const store = createMemoryStore();
  for (const key of keys) store.put(key, 'x');
  const request = quarantinedRequest({ deliveryId: ID, ...overrides });
  const body = { ...request, query: `${request.query}${query}`, v: 1, bytes: 1, sha256: '' } as const;
  return createBodyCheck(store, SOURCES)(body);
}

describe('what a quarantined body should have brought', () => {
  it.each([
    [false, 'nothing is stored', [], ''],
    [true, 'any form of a transcript', ['jobs/job1/transcript.srt'], ''],
    [false, 'a transcript of another job', ['jobs/job10/transcript.json'], ''],
    [false, 'something else', ['jobs/job1/jobinfo.json', 'jobs/job1/attachments/unnamed'], ''],
    [false, 'only a conflict', ['jobs/job1/conflicts/transcript.json.ab'], ''],
    [true, 'the content of its query', ['jobs/job1/data'], '&contents=data'],
    [false, 'not all of its query', ['jobs/job1/data'], '&contents=data,transcript'],
    [false, 'another form than its query names', ['jobs/job1/transcript.json'], '&contents=transcript.txt'],
    [true, 'anything, for names that say nothing', ['jobs/job1/jobinfo.json'], '&contents=constructor'],
  ])('is stored: %s, with %s', async (expected, _, keys, query) => {
    expect(await isStored(keys, query)).toBe(expected);
  });

  it('lies below the prefix of its source, and is all that the source names', async () => {
    const media = ['media/jobs/job1/data', 'media/jobs/job1/transcript.srt'];
    expect(await isStored(media, '', { source: 'media' })).toBe(true);
    expect(await isStored(media.slice(0, 1), '', { source: 'media' })).toBe(false);
    expect(await isStored(['jobs/job1/data', 'jobs/job1/transcript.srt'], '', { source: 'media' })).toBe(
      false,
    );
  });

  it('is anything at all where nothing is named, or the job failed', async () => {
    expect(await isStored(['jobs/job1/jobinfo.json'], '', { source: 'bare' })).toBe(true);
    expect(await isStored(['jobs/job1/jobinfo.json'], '', { status: 'error' })).toBe(true);
    expect(await isStored([], '', { source: 'bare' })).toBe(false);
    expect(await isStored([], '', { status: 'error' })).toBe(false);
  });

  it('is unknown of a source that is no longer configured', async () => {
    expect(await isStored(['jobs/job1/transcript.json'], '', { source: 'gone' })).toBe(false);
  });
});
