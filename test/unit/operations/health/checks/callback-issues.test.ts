import { describe, expect, it } from '@jest/globals';
import {
  type CallbackFacts,
  callbackIssues,
} from '../../../../../src/operations/health/checks/callback-issues.js';
import { describeIssue, issueName } from '../../../../../src/operations/issues/describe-issue.js';

const NOW = Date.parse('2026-03-04T12:00:30.000Z');
const MINUTE = 60_000;
const minutesAgo = (minutes: number) => NOW - minutes * MINUTE;

const NOTHING: CallbackFacts = {
  hourSince: minutesAgo(60),
  daySince: minutesAgo(24 * 60),
  accepted: new Map(),
  refused: [],
  missed: { jobs: 0, lastHour: 0, ofJobs: 0, lastJob: null, bySource: [] },
  unauthenticated: [],
};

const acceptedJobs = (jobs: number, lastMinutesAgo = 0) =>
  new Map([['intake', { jobs, requests: jobs, lastAt: minutesAgo(lastMinutesAgo) }]]);
const refusedJobs = (count: number, sinceAccepted = count) => [
  { source: 'intake', reason: 'body-too-large' as const, count, sinceAccepted, first: minutesAgo(50) },
];
/** So many requests in the minute that began so many minutes ago. */
const wrong = (count: number, ago = 30, source: string | null = 'intake') => ({
  source,
  reason: source === null ? 'source-unknown' : 'credential-wrong',
  minutes: [[minutesAgo(ago), count] as const],
});
const levelOf = (facts: Partial<CallbackFacts>) =>
  callbackIssues({ ...NOTHING, ...facts }, NOW).map(({ level }) => level)[0] ?? 'none';

describe('rejected callbacks', () => {
  it.each<[string, string, Partial<CallbackFacts>]>([
    ['none', 'four requests', { unauthenticated: [wrong(4)] }],
    ['none', 'fewer than a tenth of the jobs', { refused: refusedJobs(5, 0), accepted: acceptedJobs(46) }],
    ['warning', 'five jobs and a tenth', { refused: refusedJobs(5, 0), accepted: acceptedJobs(45) }],
    ['warning', 'five requests and a tenth', { unauthenticated: [wrong(5)], accepted: acceptedJobs(45) }],
    ['failing', 'five requests where none is accepted', { unauthenticated: [wrong(5)] }],
    [
      'warning',
      'five jobs after one that was accepted less than five minutes ago',
      { refused: refusedJobs(5), accepted: acceptedJobs(1, 4.99) },
    ],
    [
      'failing',
      'five jobs after one that was accepted five minutes ago',
      { refused: refusedJobs(5), accepted: acceptedJobs(1, 5) },
    ],
    [
      'failing',
      'five jobs after very many that were accepted',
      { refused: refusedJobs(5), accepted: acceptedJobs(5000, 6) },
    ],
    [
      'none',
      'five jobs before very many that were accepted',
      { refused: refusedJobs(5, 0), accepted: acceptedJobs(5000, 6) },
    ],
    [
      'warning',
      'requests to an unknown source beside very many that were accepted',
      { unauthenticated: [wrong(5, 30, null)], accepted: acceptedJobs(5000) },
    ],
    [
      'failing',
      'requests of a job an hour, since one that was accepted hours ago',
      { unauthenticated: [wrong(4, 30), wrong(4, 95)], accepted: acceptedJobs(0, 120) },
    ],
    [
      'none',
      'requests of a job an hour, when one was accepted in between',
      { unauthenticated: [wrong(4, 30), wrong(4, 95)], accepted: acceptedJobs(0, 70) },
    ],
    ['none', 'requests of which none came in the last hour', { unauthenticated: [wrong(8, 95)] }],
    [
      'none',
      'earlier requests, where the index does not show what was accepted then',
      { unauthenticated: [wrong(4, 30), wrong(4, 95)], daySince: minutesAgo(90) },
    ],
  ])('%s: %s', (level, _, facts) => {
    expect(levelOf(facts)).toBe(level);
  });

  it('are an issue for each source and cause, the largest first', () => {
    const issues = callbackIssues(
      {
        ...NOTHING,
        refused: refusedJobs(6),
        unauthenticated: [wrong(5), wrong(7, 30, 'other'), wrong(8, 30, null)],
      },
      NOW,
    );
    expect(issues.map(issueName)).toEqual([
      'callbacks-refused:source-unknown',
      'callbacks-refused:other/credential-wrong',
      'callbacks-refused:intake/body-too-large',
      'callbacks-refused:intake/credential-wrong',
    ]);
  });

  it('say how many there were since the last accepted one, and since when', () => {
    const facts = { unauthenticated: [wrong(4, 30), wrong(4, 95)] };
    const [issue] = callbackIssues({ ...NOTHING, ...facts }, NOW);
    expect(issue?.params).toMatchObject({ refused: 8, since: new Date(minutesAgo(95)).toISOString() });
  });

  it.each([
    ['none was rejected after them', 'in an earlier minute than the last accepted one', 30, 28],
    ['45 were accepted', 'in its minute: one of two replicas may go on refusing', 30, 29.5],
  ])('say %j when they came %s', (words, _, refused, accepted) => {
    const facts = { unauthenticated: [wrong(5, refused)], accepted: acceptedJobs(45, accepted) };
    const [issue] = callbackIssues({ ...NOTHING, ...facts }, NOW);
    expect(issue && describeIssue(issue).text).toMatch(new RegExp(`${words}\\.?$`));
  });
});

describe('refused callbacks to no source', () => {
  it.each([
    ['source-unknown', '6 callbacks to an unknown source were rejected'],
    ['method-not-allowed', '6 callbacks were rejected'],
  ] as const)('of the cause %s name no source that there may be', (cause, words) => {
    const params = { source: null, cause, unit: 'requests', refused: 6, accepted: 0, since: '' } as const;
    expect(describeIssue({ code: 'callbacks-refused', params }).text).toContain(words);
  });
});

describe('missed callbacks', () => {
  const missed = (jobs: number, ofJobs: number, lastHour = 0) => ({
    missed: { jobs, ofJobs, lastHour, lastJob: 'j1', bySource: [] },
  });
  it.each<[string, string, Partial<CallbackFacts>]>([
    ['none', 'four of four', missed(4, 4, 4)],
    ['none', 'less than 1 %', missed(5, 501, 5)],
    ['warning', 'five and 1 %', missed(5, 500, 5)],
    ['warning', 'less than 20 %', missed(199, 1000, 5)],
    ['failing', 'five and 20 %', missed(5, 25, 1)],
    ['warning', 'five and 20 %, none of them in the last hour', missed(5, 25, 0)],
  ])('%s: %s', (level, _, facts) => {
    expect(levelOf(facts)).toBe(level);
  });

  it('are an issue of a source where that is worse than all together', () => {
    const of = (source: string, jobs: number, ofJobs: number) => ({
      source,
      ...missed(jobs, ofJobs, 1).missed,
    });
    const issuesOf = (all: Partial<CallbackFacts>, ...bySource: ReturnType<typeof of>[]) =>
      callbackIssues({ ...NOTHING, missed: { ...NOTHING.missed, ...all.missed, bySource } }, NOW).map(
        ({ level, params }) => [level, 'missed' in params && [params.source, params.missed, params.jobs]],
      );
    expect(issuesOf(missed(7, 10_000, 1), of('small', 5, 5), of('big', 2, 9_995))).toEqual([
      ['failing', ['small', 5, 5]],
    ]);
    expect(issuesOf(missed(40, 1000, 1), of('small', 5, 5), of('big', 35, 995))).toEqual([
      ['warning', [null, 40, 1000]],
      ['failing', ['small', 5, 5]],
    ]);
    expect(issuesOf(missed(5, 5, 1), of('only', 5, 5))).toEqual([['failing', [null, 5, 5]]]);
  });
});
