import { expect } from '@jest/globals';
import fc from 'fast-check';
import { hasContextValue } from '../../../src/domain/context.js';
import { SETTLED_BY_RESULTS } from '../../../src/domain/failure-rules.js';
import type { LedgerIndex } from '../../../src/index/ledger-index.js';
import type { LineQuery } from '../../../src/index/queries/find-lines.js';
import { HOUR } from '../../../src/ledger/hours.js';
import type { LinePlace } from '../../../src/ledger/log/line-place.js';
import { expectBodies } from './expect-bodies.js';
import { expectEvents } from './expect-events.js';
import { expectFailures } from './expect-failures.js';
import { expectCallbacks } from './expect-figures.js';
import { expectJobs } from './expect-jobs.js';
import { expectSummary } from './expect-summary.js';
import { existsFor, FIRST, type Placed, type PlacedAttempt } from './indexed-ledger.js';

export const drawnQuery = fc.record({
  since: fc.option(fc.integer({ min: 0, max: 5 * HOUR }), { nil: undefined }),
  until: fc.option(fc.integer({ min: 0, max: 5 * HOUR }), { nil: undefined }),
  limit: fc.integer({ min: 1, max: 7 }),
  job: fc.constantFrom(undefined, undefined, 'Alpha', 'beta', 'unknown', null),
  source: fc.constantFrom(undefined, undefined, 'intake'),
  region: fc.constantFrom(undefined, undefined, 'eu1'),
  status: fc.constantFrom(undefined, undefined, 'error'),
  outcome: fc.constantFrom(undefined, undefined, 'failed', 'unheard'),
  origin: fc.constantFrom(undefined, undefined, 'replay'),
  without: fc.constantFrom(undefined, ['admin'], ['admin', 'replay']),
  context: fc.constantFrom(
    undefined,
    undefined,
    { name: 'call', value: '1' },
    { name: 'customer', value: 'acme' },
    { name: 'customer', value: null },
  ),
  scope: fc.constantFrom(undefined, undefined, new Set(['intake']), new Set<string>()),
  /** Grouping of the figures. */
  by: fc.constantFrom(
    ...['hour', 'day', 'cause', 'source', 'outcome', 'region', 'status', 'context.call', 'context.customer'],
    undefined,
  ),
});

export type DrawnQuery = typeof drawnQuery extends fc.Arbitrary<infer T> ? T : never;

function queryOf({ since, until, by: _, ...rest }: DrawnQuery): LineQuery {
  return {
    ...rest,
    since: since === undefined ? undefined : FIRST + since,
    until: until === undefined ? undefined : FIRST + until,
  };
}

const FIELDS = ['source', 'region', 'status', 'outcome', 'origin'] as const;

/** The places of all lines that match, newest first. */
function expectedPlaces(lines: readonly Placed[], query: LineQuery): LinePlace[] {
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY, job, context, without } = query;
  const exists = existsFor(lines, query.scope);
  const found = lines.filter(
    ({ place, line }) =>
      place.written >= since &&
      place.written < until &&
      (job === undefined || line.jobId === job) &&
      FIELDS.every((name) => query[name] === undefined || line[name] === query[name]) &&
      !without?.includes(line.origin) &&
      (context === undefined ||
        (context.value === null
          ? Object.hasOwn(line.contextOmitted ?? {}, context.name) &&
            !Object.hasOwn(line.context ?? {}, context.name)
          : hasContextValue(line.context, context.name, context.value))),
  );
  return found
    .filter(exists)
    .map(({ place }) => place)
    .reverse();
}

/** All pages of a query. */
function pagesOf(index: LedgerIndex, query: LineQuery): LinePlace[] {
  const found: LinePlace[] = [];
  for (let before: LinePlace | undefined; ; ) {
    const page = index.findLines({ ...query, before });
    found.push(...page);
    before = page.at(-1);
    if (page.length < query.limit) return found;
  }
}

/** Each query gives what a plain loop over all lines gives. */
export async function expectAnswers(
  index: LedgerIndex,
  lines: readonly Placed[],
  queries: readonly DrawnQuery[],
  attempts: readonly PlacedAttempt[],
): Promise<void> {
  expectEvents(index, lines, attempts, queries);
  for (const query of queries.map(queryOf))
    expect(pagesOf(index, query)).toEqual(expectedPlaces(lines, query));
  for (const scope of [null, new Set(['intake'])]) {
    expectBodies(index, lines, scope);
    expectFailures(index, lines, { scope });
    expectFailures(index, lines, { scope, outcome: SETTLED_BY_RESULTS });
    for (const { since, source, limit } of queries.slice(0, 2)) {
      const received = Date.parse(lines[limit % lines.length]?.line.receivedAt ?? '');
      const times = { since: since === undefined ? undefined : FIRST + since, givenUpBy: received + 60_000 };
      expectFailures(index, lines, { scope, source, ...times });
    }
    expectJobs(index, lines, scope);
    for (const { since = HOUR } of queries) expectCallbacks(index, lines, FIRST + since, scope);
  }
  for (const query of queries) await expectSummary(index, lines, query);
}
