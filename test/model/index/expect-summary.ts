import { expect } from '@jest/globals';
import { hasContextValue } from '../../../src/domain/context.js';
import { isDelivery, isNonDeliveryOutcome, isOperatorAct } from '../../../src/domain/delivery.js';
import { isReasonCode } from '../../../src/domain/reasons.js';
import type { SenderRefusals } from '../../../src/domain/summary-figures.js';
import { causeOfDelivery, contextOfGroup } from '../../../src/domain/summary-groups.js';
import type { LongCalls } from '../../../src/index/index-calls.js';
import type { LedgerIndex } from '../../../src/index/ledger-index.js';
import {
  durationBucket,
  longestOfBucket,
  percentilesOf,
} from '../../../src/index/queries/duration-percentiles.js';
import { findSummary } from '../../../src/index/questions/find-summary.js';
import { HOUR } from '../../../src/ledger/hours.js';
import type { DrawnQuery } from './expect-answers.js';
import { lastOf, wasBroughtBefore } from './expect-figures.js';
import { FIRST, type Placed } from './indexed-ledger.js';

const NOW = FIRST + 5 * HOUR;
const MINUTE = 60_000;
const MISSED = ['recovered', 'noted', 'failed', 'unrecoverable'];

/** Requests that left no line. */
const REFUSED: readonly SenderRefusals[] = [
  {
    source: 'intake',
    reason: 'credential-wrong',
    minutes: [90, 91, 200].map((at) => [FIRST + at * MINUTE, at] as const),
  },
  { source: null, reason: 'source-unknown', minutes: [[FIRST + 95 * MINUTE, 2]] },
];

/** One for each line, and for each request without one. */
interface Counted {
  readonly written: number;
  readonly placed: Placed | null;
  readonly refused: SenderRefusals | null;
}

function callsOf(index: LedgerIndex): LongCalls {
  const call: LongCalls['call'] = async (name, ...values) =>
    (index[name] as (...given: typeof values) => ReturnType<(typeof index)[typeof name]>)(...values);
  return { call, callInOwnWorker: (_signal, name, ...values) => call(name, ...values) };
}

/** Figures of any time, of its parts and of its groups, as a plain loop over all lines gives them. */
export async function expectSummary(
  index: LedgerIndex,
  lines: readonly Placed[],
  { since = HOUR, until = 4 * HOUR, limit, by, ...filters }: DrawnQuery,
): Promise<void> {
  if (since >= until) return;
  const { source, region, status, outcome, origin, context, scope } = filters;
  const value = context === undefined || context.value === null ? undefined : context;
  const range = { since: FIRST + since, until: FIRST + until };
  const query = {
    source,
    region,
    status,
    outcome,
    origin,
    scope: scope ?? null,
    by,
    context: value && `${value.name}=${value.value}`,
  };
  const asked = { since: iso(range.since), until: iso(range.until), ...query };
  const refusedRequests = async () =>
    REFUSED.map((each) => ({ ...each, minutes: each.minutes.filter(([at]) => at >= begin && at < end) }));
  let begin = range.since;
  let end = range.until;
  const exact = await findSummary(callsOf(index), { ...asked, buckets: 1, refusedRequests }, NOW);
  expect([Date.parse(exact.since), Date.parse(exact.until)]).toEqual([begin, end]);
  const all = countedOf(lines, filters, value);
  expect(exact.total).toEqual(sumOf(all, lines, filters, value, begin, end));
  expect(exact.last).toEqual(
    lastOf(
      lines.filter(({ line }) => scope === undefined || scope.has(line.source ?? '')),
      scope ?? null,
    ),
  );
  const acts = lines.filter(
    ({ place, line }) =>
      isIn(place.written, begin, end) &&
      isOperatorAct(line.origin) &&
      (source === undefined || line.source === source) &&
      isInScope(scope, line.source),
  );
  expect(exact.acts).toBe(value === undefined ? acts.length : null);
  expectGroups(exact, all, lines, filters, value, begin, end);

  await expectLargest(index, exact, asked);

  const chart = await findSummary(
    callsOf(index),
    {
      ...asked,
      by: undefined,
      buckets: limit,
      refusedRequests: async (period) => {
        [begin, end] = [period.since, period.until];
        return refusedRequests();
      },
    },
    NOW,
  );
  [begin, end] = [Date.parse(chart.since), Date.parse(chart.until)];
  expect(begin % chart.resolutionMs).toBe(0);
  expect(begin).toBeLessThanOrEqual(range.since);
  expect(end).toBeGreaterThanOrEqual(range.until);
  expect(chart.buckets.length).toBeLessThanOrEqual(limit);
  expect(chart.groups).toBeNull();
  const starts = chart.buckets.map(({ start }) => Date.parse(start));
  for (const [at, { start: _, ...figures }] of chart.buckets.entries())
    expect(figures).toEqual(sumOf(all, lines, filters, value, starts[at] ?? 0, starts[at + 1] ?? end));
}

/** However few groups are kept: none is lost. */
async function expectLargest(
  index: LedgerIndex,
  { by, groups }: Found,
  asked: Parameters<typeof findSummary>[1],
): Promise<void> {
  if (by === null || contextOfGroup(by) === null) return;
  const isOfValue = ({ value, note }: NonNullable<Found['groups']>[number]) =>
    value !== null || note !== null;
  const wanted = (groups ?? []).filter(isOfValue);
  const sum = (figures: readonly object[], field: string) =>
    figures.reduce((total, each) => total + ((each as Record<string, number>)[field] ?? 0), 0);
  for (const limit of [0, 1, 2, 100]) {
    const found = await findSummary(callsOf(index), { ...asked, buckets: 1, limit }, NOW);
    const kept = (found.groups ?? []).filter(isOfValue);
    const rest = found.rest === null ? [] : [found.rest];
    const withLines = wanted.filter(({ lines }) => lines > 0);
    // One of which only a callback was missed is among the others where values with lines are left out.
    if (withLines.length > limit)
      expect(kept.map(({ value }) => value).sort()).toEqual(largestOf(withLines, limit).sort());
    for (const field of ['lines', 'bytes', 'refused', 'missed'])
      expect(sum([...kept, ...rest], field)).toBe(sum(wanted, field));
  }
}

/** Those with the most lines; of equal ones, those whose value comes first. */
function largestOf(
  groups: readonly { readonly value: string | null; readonly lines: number }[],
  keep: number,
): (string | null)[] {
  return groups
    .map(({ value, lines }) => ({ lines, value: value ?? '' }))
    .sort((one, other) => other.lines - one.lines || (one.value < other.value ? -1 : 1))
    .slice(0, keep)
    .map(({ value }) => (value === '' ? null : value));
}

type Filters = Omit<DrawnQuery, 'since' | 'until' | 'limit' | 'by'>;
type Value = { readonly name: string; readonly value: string | null } | undefined;
type Found = Awaited<ReturnType<typeof findSummary>>;

const iso = (time: number) => new Date(time).toISOString();
const isIn = (time: number, since: number, until: number) => time >= since && time < until;
const isInScope = (scope: ReadonlySet<string> | undefined, source: string | null) =>
  scope === undefined || scope.has(source ?? '');
const codeOf = (reason: string | null) => (isReasonCode(reason) ? reason : null);

function matches(
  { line }: Placed,
  { source, region, status, outcome, origin, scope }: Filters,
  context: Value,
) {
  return (
    isInScope(scope, line.source) &&
    (source === undefined || line.source === source) &&
    (region === undefined || line.region === region) &&
    (status === undefined || line.status === status) &&
    (outcome === undefined || line.outcome === outcome) &&
    (origin === undefined || line.origin === origin) &&
    (context === undefined || hasContextValue(line.context, context.name, context.value ?? ''))
  );
}

function isCounted({ line }: Placed, { origin, outcome }: Filters): boolean {
  return (
    origin !== undefined ||
    isNonDeliveryOutcome(outcome ?? '') ||
    (isDelivery(line.origin) && !isOperatorAct(line.origin))
  );
}

function countedOf(lines: readonly Placed[], filters: Filters, context: Value): Counted[] {
  const { source, region, status, outcome = 'refused', origin = 'callback', scope } = filters;
  const own = lines.filter((each) => matches(each, filters, context) && isCounted(each, filters));
  const hasOthers =
    [region, status, context].some((each) => each !== undefined) ||
    outcome !== 'refused' ||
    origin !== 'callback';
  const refused = REFUSED.filter(
    (each) => !hasOthers && (source === undefined || each.source === source) && isInScope(scope, each.source),
  );
  return [
    ...own.map((placed) => ({ written: placed.place.written, placed, refused: null })),
    ...refused.flatMap((each) =>
      each.minutes.flatMap(([at, count]) =>
        Array.from({ length: count }, () => ({ written: at, placed: null, refused: each })),
      ),
    ),
  ];
}

function missedOf(lines: readonly Placed[], filters: Filters, context: Value, since: number, until: number) {
  return lines.filter((each) => {
    const { origin, outcome, actor, receivedAt, expectedAt = receivedAt } = each.line;
    const isMissed = origin === 'recovery' && actor === undefined && MISSED.includes(outcome);
    const due = Math.min(Date.parse(expectedAt), Date.parse(receivedAt));
    return (
      isMissed && isIn(due, since, until) && matches(each, filters, context) && !wasBroughtBefore(lines, each)
    );
  });
}

const jobsOf = (lines: readonly Placed[]) => new Set(lines.flatMap(({ line }) => line.jobId ?? [])).size;

function sumOf(
  all: readonly Counted[],
  lines: readonly Placed[],
  filters: Filters,
  context: Value,
  since: number,
  until: number,
) {
  const figures = figuresOf(all.filter(({ written }) => isIn(written, since, until)));
  // Each class of a group is counted by itself where parts of the time are asked for.
  return { ...figures, missed: jobsOf(missedOf(lines, filters, context, since, until)) };
}

function figuresOf(counted: readonly Counted[]) {
  const durations = new Map<number, number>();
  const sum = { lines: 0, bytes: 0, callbacks: 0, refused: 0, outcomes: {} };
  let longest = 0;
  const count = (counts: Record<string, number>, name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  for (const { placed } of counted) {
    if (placed === null || placed.line.origin === 'callback') sum.callbacks += 1;
    if (placed === null || (placed.line.origin === 'callback' && placed.line.outcome === 'refused'))
      sum.refused += 1;
    if (placed === null) continue;
    const { line } = placed;
    sum.lines += 1;
    sum.bytes += line.bytes;
    count(sum.outcomes, line.outcome);
    if (line.origin !== 'callback') continue;
    const bucket = durationBucket(line.durationMs);
    durations.set(bucket, (durations.get(bucket) ?? 0) + 1);
    longest = Math.max(longest, line.durationMs);
  }
  return { ...sum, duration: percentilesOf(durations, longest) };
}

/** The name of a group of the plain loop. */
function groupOf({ placed, refused, written }: Counted, by: string): string {
  const name = contextOfGroup(by);
  if (by === 'hour') return JSON.stringify([iso(Math.floor(written / HOUR) * HOUR), null, null]);
  if (by === 'day') return JSON.stringify([iso(Math.floor(written / (24 * HOUR)) * 24 * HOUR), null, null]);
  if (by === 'cause') {
    const line = placed?.line;
    const cause = line
      ? causeOfDelivery({ ...line, reason: codeOf(line.reason) })
      : (refused?.reason ?? null);
    return JSON.stringify([cause, line ? line.source : (refused?.source ?? null), null]);
  }
  if (name !== null) {
    const value = placed?.line.context?.[name] ?? null;
    const isOmitted = value === null && Object.hasOwn(placed?.line.contextOmitted ?? {}, name);
    return JSON.stringify([value, null, isOmitted ? 'omitted' : null]);
  }
  const field = by as 'source' | 'outcome' | 'region' | 'status';
  const ofRefused = { source: refused?.source ?? null, outcome: 'refused', region: null, status: null };
  return JSON.stringify([placed ? placed.line[field] : ofRefused[field], null, null]);
}

function expectGroups(
  { by, groups, rest }: Found,
  all: readonly Counted[],
  lines: readonly Placed[],
  filters: Filters,
  context: Value,
  since: number,
  until: number,
): void {
  expect(rest).toBeNull();
  if (by === null) return;
  const isByContext = contextOfGroup(by) !== null;
  const expected = new Map<string, Counted[]>();
  for (const each of all.filter(({ written }) => isIn(written, since, until)))
    expected.set(groupOf(each, by), [...(expected.get(groupOf(each, by)) ?? []), each]);
  const missed = new Map<string, Placed[]>();
  for (const placed of missedOf(lines, filters, context, since, until)) {
    const due = Math.min(
      Date.parse(placed.line.expectedAt ?? placed.line.receivedAt),
      Date.parse(placed.line.receivedAt),
    );
    const name =
      by === 'cause'
        ? JSON.stringify(['callback-missed', placed.line.source, null])
        : groupOf({ placed, refused: null, written: due }, by);
    missed.set(name, [...(missed.get(name) ?? []), placed]);
  }
  // A job that has a value in one line and none in another is among those with a value.
  const none = JSON.stringify([null, null, null]);
  if (isByContext) {
    const named = new Set(
      [...missed].flatMap(([name, own]) => (name === none ? [] : own.map(({ line }) => line.jobId))),
    );
    const others = (missed.get(none) ?? []).filter(({ line }) => !named.has(line.jobId));
    if (jobsOf(others) === 0) missed.delete(none);
    else missed.set(none, others);
  }
  for (const [name, own] of missed) if (jobsOf(own) === 0) missed.delete(name);
  const names = [...expected.keys(), ...missed.keys()];
  const found = new Map(
    (groups ?? []).map(({ value, source, note, ...figures }) => [
      JSON.stringify([value, source, note]),
      figures,
    ]),
  );
  if (by !== 'hour' && by !== 'day') expect(new Set(found.keys())).toEqual(new Set(names));
  for (const [name, { duration, ...figures }] of found) {
    const { duration: wanted, ...others } = figuresOf(expected.get(name) ?? []);
    expect(figures).toEqual({ ...others, missed: jobsOf(missed.get(name) ?? []) });
    // The longest time of lines without a value is known as well as a percentile is.
    if (isByContext && name === none && wanted !== null && duration !== null) {
      expect(duration.max).toBeGreaterThanOrEqual(wanted.max);
      expect(duration.max).toBeLessThanOrEqual(longestOfBucket(durationBucket(wanted.max)));
    } else expect(duration).toEqual(wanted);
  }
}
