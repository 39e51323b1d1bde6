import { describe, expect, it } from '@jest/globals';
import { erasureKey } from '../../../../../src/archive/layout.js';
import { NO_CONTEXT } from '../../../../../src/domain/context.js';
import type { ItemResult } from '../../../../../src/recovery/reconcile/fetch/fetch-missing.js';
import {
  jobResult,
  outcomeOfItems,
  vanishedJobResult,
  withRetentionEnd,
} from '../../../../../src/recovery/reconcile/report/job-result.js';
import type { RecoveredJob } from '../../../../../src/recovery/reconcile/report/recovery-report.js';
import { createMemoryStore } from '../../../../support/store/memory-store.js';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-03-04T12:00:00.000Z');
const KEY = 'jobs/job1/transcript.json';
const ITEM = {
  kind: 'transcript.json-v2',
  key: KEY,
  source: 'default',
  submitted: NO_CONTEXT,
} as const;

const itemResult = (outcome: ItemResult['outcome'], reason: string | null = null): ItemResult => ({
  item: ITEM,
  stored: null,
  outcome,
  reason,
});

describe('the result of a job', () => {
  it.each([
    [['failed', 'unrecoverable', 'conflict', 'created'], 'failed'],
    [['unrecoverable', 'conflict', 'created'], 'unrecoverable'],
    [['created', 'conflict', 'identical'], 'conflict'],
    [['identical', 'created'], 'recovered'],
    [['identical'], 'matched'],
    [[], 'matched'],
  ] as const)('of items that are %j is %s', (outcomes, outcome) => {
    expect(outcomeOfItems(outcomes.map((each) => ({ outcome: each })))).toBe(outcome);
  });

  it('names the end of retention only for a job that failed', () => {
    const job = {
      id: 'job1',
      status: 'done',
      created_at: new Date(NOW - 23 * HOUR).toISOString(),
      data_name: '',
      config: { type: 'transcription' },
    };
    const reasonOf = (...results: ItemResult[]) =>
      withRetentionEnd(jobResult(job, 'eu1', results, null), job, 24 * HOUR, NOW).reason;
    expect(reasonOf(itemResult('failed', 'no answer'), itemResult('failed', 'no answer'))).toBe(
      'no answer; the service keeps it only until 2026-03-04T13:00:00.000Z',
    );
    expect(reasonOf(itemResult('created'))).toBeNull();
    expect(reasonOf(itemResult('unrecoverable', 'gone'))).toBe('gone');
  });
});

describe('a job that has vanished', () => {
  const earlier: RecoveredJob = {
    jobId: 'job1',
    region: 'eu1',
    outcome: 'failed',
    reason: 'no answer',
    items: [{ kind: 'transcript.json-v2', key: KEY, outcome: 'failed' }],
  };
  const reason = 'the job vanished from the service';

  it('is unrecoverable, unless its artefacts were stored by other ways it required none, or it was erased', async () => {
    const store = createMemoryStore();
    const items = [{ kind: 'transcript.json-v2', key: KEY, outcome: 'unrecoverable' }];
    expect(await vanishedJobResult(store, earlier, reason)).toEqual({
      ...earlier,
      outcome: 'unrecoverable',
      reason,
      items,
    });
    const matched = { ...earlier, outcome: 'matched', reason, items: [] };
    expect(await vanishedJobResult(store, { ...earlier, items: [] }, reason)).toEqual(matched);
    store.put(erasureKey(earlier.jobId), '{}');
    expect(await vanishedJobResult(store, earlier, reason)).toEqual(matched);
    store.objects.delete(erasureKey(earlier.jobId));
    store.put(KEY, '{}');
    expect(await vanishedJobResult(store, earlier, reason)).toEqual(matched);
  });
});
