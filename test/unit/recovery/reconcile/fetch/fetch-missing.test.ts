import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { NO_CONTEXT } from '../../../../../src/domain/context.js';
import { KINDS, type RetrievableKind } from '../../../../../src/domain/kinds.js';
import { fetchMissing, type ItemResult } from '../../../../../src/recovery/reconcile/fetch/fetch-missing.js';
import { type ObjectStore, StoreError } from '../../../../../src/store/object-store.js';
import { type RecoveryFixture, recoveryFixture } from '../../../../support/recovery/recovery-fixture.js';
import { context } from '../../../../support/store/archive-fixture.js';

const HEADERS = { contentType: 'text/plain', metadata: {} };

let fixture: RecoveryFixture;
let jobId: string;

beforeEach(async () => {
  fixture = await recoveryFixture();
  jobId = await fixture.lose();
});

afterEach(() => fixture.close());

interface Circumstances {
  readonly store?: ObjectStore;
  /** The run is interrupted when this kind's turn comes. */
  readonly interruptedAt?: RetrievableKind;
}

function fetchKinds(kinds: readonly RetrievableKind[], given: Circumstances = {}): Promise<ItemResult[]> {
  const stop = new AbortController();
  const missing = kinds.map((kind) => ({
    kind,
    key: `jobs/${jobId}/${KINDS[kind].file}`,
    source: kind,
    submitted: NO_CONTEXT,
  }));
  const parts = { ...fixture.parts, store: given.store ?? fixture.store };
  const contextOf = ({ source }: { readonly source: string }) => {
    if (source === given.interruptedAt) stop.abort();
    return context({ jobId });
  };
  return fetchMissing(parts, fixture.parts.speech.jobs('eu1'), missing, contextOf, stop.signal);
}

/** Lets the service answer requests for a document, or for the record, in this way. */
function answer(operation: 'transcript' | 'media' | 'record', status: number, body?: unknown): void {
  fixture.simulator.faults.add({ kind: 'answer', operation, status, body });
}

describe('an item that the service does not know (404)', () => {
  it.each(['deleted', 'expired'])(
    // Rule: Silences: job statuses beside `done`
    'is unrecoverable when the record says that the job is %s',
    async (status) => {
      answer('transcript', 404);
      answer('record', 200, { job: { ...fixture.simulator.job(jobId), status } });
      expect(await fetchKinds(['transcript.txt'])).toMatchObject([
        { stored: null, outcome: 'unrecoverable', reason: 'the job vanished from the service' },
      ]);
    },
  );

  it.each([404, 410])('is unrecoverable when the record is answered with %d', async (status) => {
    answer('transcript', 404);
    answer('record', status);
    expect(await fetchKinds(['transcript.txt'])).toMatchObject([
      { outcome: 'unrecoverable', reason: 'the job vanished from the service' },
    ]);
  });

  it('has failed when the record cannot be read', async () => {
    answer('transcript', 404);
    answer('record', 503);
    expect(await fetchKinds(['transcript.txt'])).toMatchObject([
      { outcome: 'failed', reason: expect.stringMatching(/404/) },
    ]);
  });

  it('is unrecoverable when it is the media of a job that the service knows', async () => {
    answer('media', 404);
    answer('transcript', 404);
    expect(await fetchKinds(['data', 'transcript.srt'])).toMatchObject([
      { outcome: 'unrecoverable', reason: 'the service does not hand out the media of this job' },
      { outcome: 'failed', reason: expect.stringMatching(/404/) },
    ]);
  });
});

describe('a conflict', () => {
  it('is no damage when the artefact has another SHA-256, or the store does not say', async () => {
    const key = `jobs/${jobId}/transcript.txt`;
    await fixture.store.create(key, Buffer.from('other'), {
      ...HEADERS,
      metadata: { sha256: 'b'.repeat(64) },
    });
    const silent: ObjectStore = {
      ...fixture.store,
      head: async (asked) => {
        if (asked === key) throw new StoreError('head', 'access denied');
        return fixture.store.head(asked);
      },
    };
    for (const each of [fixture.store, silent]) {
      expect(await fetchKinds(['transcript.txt'], { store: each })).toMatchObject([
        { stored: { key: expect.stringMatching(/conflicts/) }, reason: null },
      ]);
    }
  });
});

describe('an interrupted job', () => {
  it('rejects while nothing was stored, even if an item has failed before', async () => {
    answer('media', 410);
    await expect(fetchKinds(['data', 'transcript.txt'], { interruptedAt: 'transcript.txt' })).rejects.toThrow(
      'aborted',
    );
  });

  it('keeps the results of what was stored, and says once why the rest is missing', async () => {
    const kinds = ['transcript.txt', 'transcript.srt', 'data', 'jobinfo'] as const;
    expect(await fetchKinds(kinds, { interruptedAt: 'transcript.srt' })).toMatchObject([
      { stored: { outcome: 'created' }, outcome: 'created', reason: null },
      { stored: null, outcome: 'failed', reason: 'the run was interrupted' },
      { stored: null, outcome: 'missing', reason: null },
      { stored: null, outcome: 'missing', reason: null },
    ]);
  });
});
