import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Archive, Reception } from '../../../../../src/archive/archive.js';
import type { RetrievableKind } from '../../../../../src/domain/kinds.js';
import { Problem } from '../../../../../src/domain/problem.js';
import { fetchItem } from '../../../../../src/recovery/reconcile/fetch/fetch-missing.js';
import { StoreError } from '../../../../../src/store/object-store.js';
import { visibleKeys } from '../../../../support/ledger/ledger-of.js';
import { type RecoveryFixture, recoveryFixture } from '../../../../support/recovery/recovery-fixture.js';
import { context } from '../../../../support/store/archive-fixture.js';

const RACE = new Problem('write-race', 'another delivery was first');
const REFUSAL = new Problem('overloaded', 'others wait for memory');

let fixture: RecoveryFixture;
/** What the archive learned of each download. */
let begun: (Reception | undefined)[];

beforeEach(async () => {
  fixture = await recoveryFixture();
  begun = [];
});

afterEach(() => fixture.close());

/** Fetches an item through an archive whose first commits reject as given. */
function fetchFrom(
  jobId: string,
  kind: RetrievableKind,
  rejections: readonly (() => unknown)[] = [],
  signal?: AbortSignal,
) {
  const { parts } = fixture;
  const archive: Archive = {
    begin(delivery, reception) {
      const staged = parts.archive.begin(delivery, reception);
      const reject = rejections[begun.length];
      begun.push(reception);
      return reject === undefined
        ? staged
        : Object.assign(staged, { commit: async () => Promise.reject(reject()) });
    },
  };
  const client = parts.speech.jobs('eu1');
  return fetchItem({ client, archive, kind, context: context({ jobId }), signal });
}

/** Lets the service send this as the media of every job. */
function sendMedia(headers: Record<string, string>): void {
  const base64 = Buffer.from('some media').toString('base64');
  fixture.simulator.faults.add({ kind: 'answer', operation: 'media', status: 200, headers, base64 });
}

describe('a fetched item', () => {
  it.each([RACE, REFUSAL])('is fetched a second time after $code, and stored once', async (problem) => {
    const jobId = await fixture.lose();
    const stored = await fetchFrom(jobId, 'transcript.txt', [() => problem]);
    const key = `jobs/${jobId}/transcript.txt`;
    expect(stored).toMatchObject({ kind: 'transcript.txt', key, outcome: 'created' });
    expect(begun).toHaveLength(2);
    expect(await visibleKeys(fixture.folder, 'jobs/')).toEqual([key]);
    expect(await fixture.isExact(key, jobId, 'transcript.txt')).toBe(true);
  });

  it('is not fetched a third time', async () => {
    const jobId = await fixture.lose();
    const last = new Problem('write-race', 'again');
    await expect(fetchFrom(jobId, 'transcript.txt', [() => RACE, () => last])).rejects.toBe(last);
    expect(begun).toHaveLength(2);
  });

  it.each([
    ['another problem', new Problem('store-unavailable', 'no space left')],
    ['a failure of the store', new StoreError('create', 'no space left')],
  ])('is fetched once only after %s', async (_name, error) => {
    const jobId = await fixture.lose();
    await expect(fetchFrom(jobId, 'transcript.txt', [() => error])).rejects.toBe(error);
    expect(begun).toHaveLength(1);
  });

  it('is not fetched again once the caller has aborted', async () => {
    const jobId = await fixture.lose();
    const stop = new AbortController();
    const abort = () => {
      stop.abort();
      return RACE;
    };
    await expect(fetchFrom(jobId, 'transcript.txt', [abort], stop.signal)).rejects.toBe(RACE);
    expect(begun).toHaveLength(1);
  });

  it('claims memory for the size that the service announces', async () => {
    const jobId = await fixture.lose();
    await fetchFrom(jobId, 'data');
    const { size } = fixture.simulator.expected(jobId).data;
    expect(begun).toEqual([{ expectedBytes: size }]);
  });

  it.each([
    ['video/mp4', 'video/mp4'],
    ['audio/x-wav; codecs=1', 'application/octet-stream'],
    ['a/b/c', 'application/octet-stream'],
    ['x video/mp4', 'application/octet-stream'],
  ])('of media sent as %s is stored as %s', async (sent, kept) => {
    const jobId = await fixture.lose();
    sendMedia({ 'content-type': sent });
    const { key } = await fetchFrom(jobId, 'data');
    expect((await fixture.store.head(key))?.contentType).toBe(kept);
  });
});
