import { expect } from '@jest/globals';
import { causeOf } from '../../../src/domain/failure-causes.js';
import { isReasonCode } from '../../../src/domain/reasons.js';
import type { LedgerIndex } from '../../../src/index/ledger-index.js';
import type { FailingQuery, FailurePosition } from '../../../src/index/queries/find-failures.js';
import { causesOfLines, failingOf, type Placed } from './indexed-ledger.js';
import { isStillTried } from './is-still-tried.js';

type Failing = ReturnType<typeof failingOf>[number];

/** Failing jobs, their causes and numbers as a plain loop gives them, whole and page by page. */
export function expectFailures(index: LedgerIndex, lines: readonly Placed[], query: FailingQuery): void {
  const others = failingOf(lines, query.scope ?? null).filter((each) => matches(each, query));
  const causes = causesOfLines(others.map(({ line }) => line));
  for (const cause of [undefined, ...causes.map(({ code }) => code)]) {
    const failing = others.filter(({ line }) => cause === undefined || causeOf(line) === cause);
    const asked = { ...query, cause };
    const found = index.findFailures(asked);
    expect(found.map(({ job, place, outcome, first }) => ({ job, place, outcome, first }))).toEqual(
      failing.map(({ job, place, outcome, first }) => ({ job, place, outcome, first })),
    );
    const jobs = failing.map(({ job }) => job);
    expect(index.failingJobs(asked).jobs).toEqual(jobs);
    const pages = pagesOf(index, asked);
    expect(pages.flatMap((page) => page.jobs.map(({ job }) => job))).toEqual(jobs);
    const counts: Record<string, number> = {};
    for (const { outcome } of failing) counts[outcome] = (counts[outcome] ?? 0) + 1;
    expect(pages[0]).toMatchObject({ counts, causes });
  }
}

function matches(
  { outcome, line }: Failing,
  { since, givenUpBy, outcome: wanted, source }: FailingQuery,
): boolean {
  const received = Date.parse(line.receivedAt);
  const rejected = { reason: isReasonCode(line.reason) ? line.reason : null, received };
  return (
    (since === undefined || received >= since) &&
    (source === undefined || line.source === source) &&
    (wanted === undefined || [wanted].flat().includes(outcome)) &&
    (givenUpBy === undefined || outcome !== 'refused' || !isStillTried(rejected, givenUpBy))
  );
}

function pagesOf(index: LedgerIndex, query: FailingQuery) {
  const pages: ReturnType<LedgerIndex['failurePage']>[] = [];
  for (let after: FailurePosition | null = null; ; ) {
    const page = index.failurePage({ ...query, limit: 1, after });
    const [last] = page.jobs;
    if (last === undefined && pages.length > 0) return pages;
    pages.push(page);
    if (last === undefined) return pages;
    after = [last.first, last.job];
  }
}
