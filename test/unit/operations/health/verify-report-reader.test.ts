import { beforeEach, describe, expect, it } from '@jest/globals';
import { verifyReportKey } from '../../../../src/archive/layout.js';
import { createVerifyReportReader } from '../../../../src/operations/health/verify-report-reader.js';
import type { VerifyFinding } from '../../../../src/recovery/verify/verify-finding.js';
import { buildVerifyReport, type VerifyReport } from '../../../../src/recovery/verify/verify-report.js';
import { createMemoryStore, type MemoryStore } from '../../../support/store/memory-store.js';

const DAY = 86_400_000;
const NOW = Date.parse('2026-11-20T12:00:00Z');
const daysAgo = (days: number) => new Date(NOW - days * DAY).toISOString();

let store: MemoryStore;
let reads: number;
let last: ReturnType<typeof createVerifyReportReader>;

beforeEach(() => {
  reads = 0;
  store = createMemoryStore((operation) => {
    if (operation === 'read') reads += 1;
  });
  last = createVerifyReportReader(store, () => NOW);
});

interface Past {
  readonly startedDaysAgo: number;
  /** Days of the window. */
  readonly days?: number;
  readonly deep?: boolean;
  readonly findings?: readonly VerifyFinding[];
  readonly fault?: string;
  readonly more?: Partial<VerifyReport>;
}

function report({ startedDaysAgo, days = 30, deep = false, findings = [], fault, more }: Past): void {
  const startedAt = daysAgo(startedDaysAgo);
  const window = { since: daysAgo(startedDaysAgo + days), until: startedAt };
  const scope = {
    startedAt,
    window,
    deep,
    version: '1',
    store: 'memory:',
    expiredBefore: {},
  };
  const builder = buildVerifyReport(scope);
  for (let n = 0; n < 10; n += 1) builder.intact('metadata', 5);
  for (const finding of findings) builder.finding(finding);
  if (fault !== undefined) builder.fault(null, fault);
  const finished = builder.finish(startedAt, { settled: () => null, choiceOf: () => null }, () => []);
  store.put(verifyReportKey(startedAt), JSON.stringify({ ...finished, ...more }));
}

function finding(receivedDaysAgo: number, more: Partial<VerifyFinding> = {}): VerifyFinding {
  const receivedAt = daysAgo(receivedDaysAgo);
  return {
    jobId: `job${receivedDaysAgo}`,
    key: `jobs/job${receivedDaysAgo}/data`,
    kind: 'data',
    source: 'default',
    deliveryId: '01',
    receivedAt,
    reason: 'missing',
    expected: { size: 1, sha256: null },
    found: null,
    keptUntil: daysAgo(receivedDaysAgo - 7),
    ...more,
  };
}

describe('the last verify', () => {
  it('is null before the first run', async () => {
    expect(await last()).toBeNull();
  });

  it('is the newest complete run, and each report is read once', async () => {
    report({ startedDaysAgo: 8 });
    report({ startedDaysAgo: 1, findings: [finding(3), finding(20), finding(4, { reason: 'size' })] });
    const figures = await last();
    expect(figures).toMatchObject({ complete: true, checked: 13, bytes: 50, missing: 2, damaged: 1 });
    expect(figures?.startedAt).toBe(daysAgo(1));
    expect(figures?.refetch).toEqual(['job3']);
    await last();
    expect(reads).toBe(2);
  });

  it('keeps what a later run did not look at: an earlier time, an interrupted run, bytes', async () => {
    const flipped = finding(9, { reason: 'content' });
    report({ startedDaysAgo: 8, deep: true, findings: [finding(10), flipped] });
    report({ startedDaysAgo: 3, days: 1 });
    report({ startedDaysAgo: 2, fault: 'the run was interrupted' });
    expect(await last()).toMatchObject({ missing: 1, damaged: 1, faults: [] });
    report({ startedDaysAgo: 1 });
    expect(await last()).toMatchObject({ missing: 0, damaged: 1 });
    report({ startedDaysAgo: 0.5, deep: true });
    expect(await last()).toMatchObject({ missing: 0, damaged: 0 });
  });

  it('counts findings beyond the list of a report, until its whole window is looked at again', async () => {
    const outcomes = {
      intact: 0,
      missing: 501,
      damaged: 0,
      erased: 0,
      expired: 0,
      acknowledged: 0,
      replaced: 0,
      unchecked: 0,
    };
    report({ startedDaysAgo: 3, days: 5, findings: [finding(4)], more: { outcomes } });
    report({ startedDaysAgo: 2, days: 3 });
    expect(await last()).toMatchObject({ missing: 500 });
    report({ startedDaysAgo: 1 });
    expect(await last()).toMatchObject({ missing: 0 });
  });

  it('says why the last run did not look everywhere', async () => {
    report({ startedDaysAgo: 8 });
    report({ startedDaysAgo: 2, fault: 'the store failed' });
    report({ startedDaysAgo: 1, fault: 'the run was interrupted' });
    expect(await last()).toMatchObject({
      startedAt: daysAgo(8),
      complete: true,
      faults: ['the store failed'],
    });
    const ledger = { segments: 1, lines: 1, unreadable: 2, unusable: 1 };
    report({ startedDaysAgo: 0.5, fault: 'it has lines that cannot be read', more: { ledger } });
    expect((await last())?.faults).toEqual([
      '1 item of the ledger could not be read',
      'it has lines that cannot be read',
    ]);
  });

  it('shows a run that was interrupted only while there is no complete one', async () => {
    report({ startedDaysAgo: 1, fault: 'the run was interrupted' });
    expect(await last()).toMatchObject({ complete: false, faults: ['the run was interrupted'] });
  });

  it('shows the newest run however old it is, and ignores other documents', async () => {
    report({ startedDaysAgo: 90, findings: [finding(95)] });
    report({ startedDaysAgo: 50, findings: [finding(55)] });
    store.put(verifyReportKey(daysAgo(40)).replace('.json', '.txt'), 'notes');
    expect(await last()).toMatchObject({ startedAt: daysAgo(50), missing: 1 });
  });
});
