import { expect, it } from '@jest/globals';
import type { VerifyFinding } from '../../../../src/recovery/verify/verify-finding.js';
import { buildVerifyReport } from '../../../../src/recovery/verify/verify-report.js';

const AT = '2026-03-04T05:00:00.000Z';

function missing(jobId: string): VerifyFinding {
  return {
    jobId,
    source: 'default',
    deliveryId: jobId,
    receivedAt: AT,
    key: `jobs/${jobId}/data`,
    kind: 'data',
    reason: 'missing',
    expected: { size: 1, sha256: null },
    found: null,
    keptUntil: null,
  };
}

it('names what is open behind more settled findings than a report lists, and counts each as what it is', () => {
  const report = buildVerifyReport({
    startedAt: AT,
    version: '1.2.3',
    store: 'memory',
    window: { since: AT, until: AT },
    deep: false,
    expiredBefore: {},
  });
  for (let n = 0; n < 10_001; n += 1) report.finding(missing(`settled-${n}`));
  for (let n = 0; n < 10_001; n += 1) report.finding(missing(`open-${n}`));
  const settlements = {
    settled: ({ jobId }: VerifyFinding) => (jobId?.startsWith('settled') ? ('acknowledged' as const) : null),
    choiceOf: () => null,
  };
  const finished = report.finish(AT, settlements, () => []);
  expect(finished.outcomes).toMatchObject({ acknowledged: 10_001, missing: 10_001 });
  expect(finished.missing).toHaveLength(10_000);
  expect(finished.missing[0]?.jobId).toBe('open-0');
});
