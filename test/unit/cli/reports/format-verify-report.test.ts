import { describe, expect, it } from '@jest/globals';
import { formatVerifyReport } from '../../../../src/cli/reports/format-verify-report.js';
import { refetchCommands, type VerifyFinding } from '../../../../src/recovery/verify/verify-finding.js';
import { buildVerifyReport } from '../../../../src/recovery/verify/verify-report.js';

const AT = '2026-03-04T05:06:07.089Z';
const KEPT = '2026-03-05T00:00:00.000Z';

function reportOf(missing: number, lines: number) {
  const window = { since: AT, until: AT };
  const builder = buildVerifyReport({
    startedAt: AT,
    version: '1',
    store: 'memory:',
    window,
    deep: false,
    expiredBefore: {},
  });
  builder.ledger.lines = lines;
  for (let n = 0; n < missing; n += 1) builder.finding({ ...findingOf(`jobs/j${n}/data`), jobId: `j${n}` });
  return builder.finish(AT, { settled: () => null, choiceOf: () => null }, (findings) =>
    refetchCommands(findings, {}, Date.parse(AT)),
  );
}

function findingOf(key: string): VerifyFinding {
  return {
    key,
    jobId: 'j',
    kind: 'data',
    source: null,
    deliveryId: '01',
    receivedAt: AT,
    reason: 'missing',
    expected: { size: 1, sha256: null },
    found: null,
    keptUntil: KEPT,
  };
}

describe('a verify report as text', () => {
  it('names damages in words', () => {
    const report = reportOf(0, 5);
    const found = { size: 2, sha256: null };
    const reasons = ['content', 'metadata', 'size', 'request', 'claims'] as const;
    const damaged = reasons.map((reason) => ({ ...findingOf('jobs/j/data'), reason, found }));
    const outcomes = { ...report.outcomes, damaged: 5 };
    const text = formatVerifyReport({ ...report, damaged, outcomes }).join('\n');
    expect(text).toMatch(/the bytes differ from the recorded hash: expected 1 bytes/);
    expect(text).toMatch(/the ledger records different content for this key: expected/);
    expect(text).toMatch(/its request\.json is missing or cannot be read: expected/);
    expect(text).not.toMatch(/ {2}(content|metadata|size|request|claims): /);
  });

  it('has a command for each object that is missing or damaged and that the service has no more', () => {
    const damaged = Object.entries({ kept: KEPT, gone: AT, conflict: null }).map(([jobId, keptUntil]) => ({
      ...findingOf('jobs/j/data'),
      jobId,
      keptUntil,
      reason: 'size' as const,
      found: { size: 2, sha256: null },
    }));
    const missing = [{ ...findingOf('jobs/j/data'), jobId: 'lost', keptUntil: null }];
    const text = formatVerifyReport({ ...reportOf(0, 5), damaged: [...damaged, ...damaged], missing });
    const said = text.findIndex((line) => /restore them from a backup, or accept the loss:$/.test(line));
    expect(text.slice(said + 1)).toEqual(
      ['lost', 'gone', 'conflict'].map((job) => `  transcript-receiver acknowledge ${job} --reason <words>`),
    );
  });

  it('does not say that the ledger has no line when it was not read', () => {
    const text = formatVerifyReport({ ...reportOf(0, 0), complete: false }).join('\n');
    expect(text).toMatch(/nothing is known of the artefacts/);
    expect(text).not.toMatch(/has no line|intact +0/);
  });

  it('lists a hundred findings and commands, and says how many more there are', () => {
    const report = reportOf(12_000, 12_000);
    const text = formatVerifyReport(report);
    expect(text.filter((line) => line.startsWith('missing  jobs/'))).toHaveLength(100);
    expect(text).toContain('... and 11900 more: see the report');
    // A thousand jobs each.
    const commands = text.filter((line) => line.startsWith('  transcript-receiver '));
    expect(commands).toHaveLength(10);
    for (const command of commands) expect(command).toMatch(/^ {2}transcript-receiver replay refetch --job /);
    expect(text.at(-1)).toMatch(/^If artefacts are still missing or damaged: .*acknowledge <job>/);
    expect(report.missing).toHaveLength(10_000);
    expect(report.outcomes.missing).toBe(12_000);
  });

  it('does not make a store without a ledger look like good news', () => {
    expect(formatVerifyReport(reportOf(0, 0))).toContain(
      'Nothing was checked: the ledger has no line of this time',
    );
    expect(formatVerifyReport(reportOf(0, 1)).join()).not.toContain('Nothing was checked');
  });
});
