import { describe, expect, it } from '@jest/globals';
import { REASONS } from '../../../../src/domain/reasons.js';
import type { CallbackFacts } from '../../../../src/operations/health/checks/callback-issues.js';
import { subscriberIssues } from '../../../../src/operations/health/checks/subscriber-issues.js';
import { type VerdictFacts, verdictOf } from '../../../../src/operations/health/health-verdict.js';
import { describeIssue, issueName } from '../../../../src/operations/issues/describe-issue.js';
import { ISSUE_CODES, ISSUES, issueOf } from '../../../../src/operations/issues/issue-kinds.js';
import type { IssueCode, IssueLevel, IssueParams, Topic } from '../../../../src/operations/issues/issues.js';
import {
  headlineOf,
  notCovered,
  textWithoutIssues,
} from '../../../../src/operations/issues/verdict-words.js';

const INDEX = { since: '2026-11-13T12:00:00.000Z', until: '2026-11-20T11:59:59.000Z', missing: [] };

const NOW = Date.parse('2026-11-20T12:00:00Z');
const RECONCILED = {
  startedAt: '2026-11-20T10:59:00Z',
  finishedAt: '2026-11-20T11:00:00Z',
  outcomes: {},
  expected: 5,
  received: 5,
  missing: 0,
  withoutFailure: 0,
  isWhole: true,
  ignored: 0,
  faults: [],
};
const VERIFIED = {
  startedAt: '2026-11-15T03:41:00Z',
  finishedAt: '2026-11-15T04:00:00Z',
  window: { since: '2026-10-16T03:41:00Z', until: '2026-11-15T03:41:00Z' },
  deep: false,
  complete: true,
  checked: 9,
  bytes: 900,
  missing: 0,
  damaged: 0,
  refetch: [],
  faults: [],
};
const CALLBACKS: CallbackFacts = {
  hourSince: NOW - 3_600_000,
  daySince: NOW - 24 * 3_600_000,
  accepted: new Map(),
  refused: [],
  missed: { jobs: 0, lastHour: 0, ofJobs: 0, lastJob: null, bySource: [] },
  unauthenticated: [],
};
const WELL: VerdictFacts = {
  callbacks: CALLBACKS,
  receiver: { ready: true, reason: null, draining: false, waiters: 0 },
  store: { writable: true, reason: null, condition: null, lastSuccessAt: NOW - 5000 },
  ownIssues: [],
  replicaIssues: [],
  ledger: {
    state: 'ready',
    place: { path: null, cause: 'no-folder' },
    error: null,
    fault: null,
    condition: null,
    rows: 7,
    refreshedAt: '2026-11-20T11:59:59Z',
  },
  index: INDEX,
  isIndexed: true,
  failing: {},
  failingSince: null,
  retentionEnds: null,
  waiting: 0,
  reconcile: RECONCILED,
  verify: VERIFIED,
  service: { configured: true, interval: 900_000 },
  credentials: [],
  otherCredentials: false,
  scoped: false,
  subscribers: [],
  unknown: {},
};
const NO_ANSWER = { reason: 'no answer', since: null };
const EXPIRING = {
  source: 's',
  credential: 'c',
  state: 'expiring' as const,
  expires: '2026-11-23T12:00:00.000Z',
  notBefore: null,
  lastUsedAt: null,
};
const EXPIRED = { ...EXPIRING, state: 'expired' as const, expires: '2026-11-19T12:00:00.000Z' };
const VALID = { ...EXPIRING, credential: 'd', state: 'in-use' as const, expires: null };
const SUBSCRIBER = {
  name: 'crm',
  stateDamaged: false,
  lagSeconds: 0,
  dead: 0,
  openSince: null,
  lastError: null,
  lastSentAt: null,
};
const ANSWERED_503 = { at: '2026-11-20T11:58:00.000Z', status: 503, error: null };
const LAG = 20 * 60;

interface Expected<Code extends IssueCode> {
  /** What of a healthy receiver is different; null where the verdict of `status` makes the issue itself. */
  readonly facts: Partial<VerdictFacts> | null;
  readonly is: `${Topic} ${IssueLevel}`;
  readonly params: IssueParams[Code];
  readonly text: string;
  /** Only where it has facts of the issue, or there is none. */
  readonly remedy?: string | null;
  /** Codes of the issues that come with it. */
  readonly also?: readonly IssueCode[];
}

const DENIED: IssueParams['store-denied'] = {
  prefix: 'jobs/',
  sources: ['a', 'b'],
  reason: 'permission denied',
  condition: 'denied',
  since: '2026-11-20T11:00:00Z',
};
const WORK_DENIED: IssueParams['work-denied'] = {
  prefix: 'replays/',
  work: 'replaying',
  reason: 'access denied',
  condition: 'denied',
  since: '2026-11-20T11:00:00Z',
};
const REPLACED = { was: 'one', is: 'two', seenAt: '2026-11-19T12:00:00Z' };
const CLOCK = { replica: 'pod-1', offsetMs: -16 * 60_000 };
const SILENT = { replica: 'pod-2', since: '2026-11-20T11:00:00.000Z' };

const EXPECTED: { readonly [Code in IssueCode]: Expected<Code> } = {
  'callbacks-refused': {
    facts: {
      callbacks: {
        ...CALLBACKS,
        accepted: new Map([['s', { jobs: 7, requests: 9, lastAt: NOW }]]),
        refused: [{ source: 's', reason: 'query-invalid', count: 5, sinceAccepted: 0, first: NOW - 600_000 }],
      },
    },
    is: 'callbacks warning',
    params: {
      source: 's',
      cause: 'query-invalid',
      unit: 'jobs',
      refused: 5,
      accepted: 7,
      sinceAccepted: 0,
      since: '2026-11-20T11:50:00.000Z',
    },
    text: 'The callbacks of 5 jobs to s were rejected since 2026-11-20T11:50:00.000Z: the query had no valid id and status. In the last hour 7 were accepted, and none was rejected after them.',
  },
  'callbacks-missed': {
    facts: {
      callbacks: { ...CALLBACKS, missed: { jobs: 5, lastHour: 0, ofJobs: 9, lastJob: 'j', bySource: [] } },
    },
    is: 'callbacks warning',
    params: { source: null, missed: 5, lastHour: 0, jobs: 9, job: 'j', since: '2026-11-19T12:00:00.000Z' },
    text: 'The callbacks of 5 of 9 jobs since 2026-11-19T12:00:00.000Z did not bring the results, so that recovery had to fetch them; none of them in the last hour.',
    remedy:
      'Find what keeps callbacks away: transcript-receiver job j shows what the service was answered (no error: it sent none, or another server took it), and Refusals what was rejected here.',
  },
  'store-not-writable': {
    facts: { store: { ...WELL.store, writable: false, reason: 'disk full', condition: 'full' } },
    is: 'store failing',
    params: { reason: 'disk full', condition: 'full', since: '2026-11-20T11:59:55.000Z' },
    text: 'The store cannot be written: disk full; the last check succeeded at 2026-11-20T11:59:55.000Z. Callbacks are answered 503.',
  },
  'store-unreadable': {
    facts: null,
    is: 'store failing',
    params: { reason: 'no folder', condition: 'missing' },
    text: 'The store cannot be read: no folder.',
  },
  'store-denied': {
    facts: { ownIssues: [issueOf('store-denied', DENIED)] },
    is: 'store failing',
    params: DENIED,
    text: 'The store cannot be used below jobs/ since 2026-11-20T11:00:00Z: permission denied. Callbacks of a, b are answered 503.',
  },
  'work-denied': {
    facts: { ownIssues: [issueOf('work-denied', WORK_DENIED)] },
    is: 'store warning',
    params: WORK_DENIED,
    text: 'The store cannot be used below replays/ since 2026-11-20T11:00:00Z: access denied. No replay can begin or go on.',
  },
  'store-replaced': {
    facts: { ownIssues: [issueOf('store-replaced', REPLACED)] },
    is: 'store warning',
    params: REPLACED,
    text: 'This is another store than before: its id is two, and it was one at 2026-11-19T12:00:00Z.',
    remedy:
      'Bring the former one back (mount its volume, restore its bucket, or correct store.url) and restart. If this one is right, set store.id to two, and restart.',
  },
  clock: {
    facts: { replicaIssues: [issueOf('clock', CLOCK)] },
    is: 'receiving failing',
    params: CLOCK,
    text: "The clock of pod-1 is 16 minutes ahead of the store's. Its callbacks are answered 503.",
    remedy:
      'Synchronise the clock of the machine of pod-1 (chrony, systemd-timesyncd). If every replica reports this, correct the clock of the store.',
  },
  'not-ready': {
    facts: { receiver: { ready: false, reason: 'It is not proven.', draining: false, waiters: 0 } },
    is: 'receiving failing',
    params: { reason: 'It is not proven.' },
    text: 'Not ready to receive: It is not proven.',
  },
  'replica-silent': {
    facts: { replicaIssues: [issueOf('replica-silent', SILENT)] },
    is: 'receiving warning',
    params: SILENT,
    text: 'pod-2 has written nothing to the store since 2026-11-20T11:00:00.000Z: it was killed, or it is cut off from the store and answers callbacks 503.',
    remedy: 'If it still runs, see its log. If it does not, this issue closes an hour after its last write.',
  },
  draining: {
    facts: { receiver: { ready: false, reason: 'leaving', draining: true, waiters: 0 } },
    is: 'receiving warning',
    params: {},
    text: 'This replica is shutting down; another one takes over.',
    remedy: null,
  },
  'no-receiver': {
    facts: { receiver: null, lastProven: { at: '2026-11-20T09:00:00.000Z', recent: false } },
    is: 'receiving warning',
    params: { since: '2026-11-20T09:00:00.000Z' },
    text: 'No receiver has written to this store since 2026-11-20T09:00:00.000Z.',
  },
  'memory-short': {
    facts: { receiver: { ready: true, reason: null, draining: false, waiters: 1 } },
    is: 'receiving warning',
    params: { deliveries: 1 },
    text: '1 delivery waits for memory.',
  },
  'ledger-unreadable': {
    facts: { ledger: { ...WELL.ledger, error: 'no list', condition: 'denied' } },
    is: 'ledger failing',
    params: { reason: 'no list', condition: 'denied', since: '2026-11-20T11:59:59Z' },
    text: 'The ledger cannot be read: no list. What is shown is of 2026-11-20T11:59:59Z.',
  },
  'index-behind': {
    facts: { ledger: { ...WELL.ledger, error: 'database or disk is full', fault: 'index' } },
    is: 'ledger warning',
    params: { reason: 'database or disk is full', since: '2026-11-20T11:59:59Z' },
    text: 'The index of the ledger lacks what was written since 2026-11-20T11:59:59Z: database or disk is full. Callbacks are accepted as before.',
  },
  'ledger-loading': {
    facts: { ledger: { ...WELL.ledger, state: 'loading' } },
    is: 'ledger unknown',
    params: {},
    text: 'The ledger is still being read; figures are not complete yet.',
    remedy: null,
  },
  'ledger-lines-unreadable': {
    facts: {
      index: {
        ...WELL.index,
        missing: [
          { key: 'ledger/one', segments: 1, unreadable: 3 },
          { key: 'ledger-hours/whole', segments: 0, unreadable: null },
          { key: 'ledger/dt=2026-11-20/hour=10/', segments: 1, unreadable: null },
          { key: 'ledger/older', segments: 2, unreadable: null },
        ],
      },
    },
    is: 'ledger warning',
    params: { lines: 3, objects: 2, first: 'ledger/dt=2026-11-20/hour=10/' },
    text: '3 lines of the ledger cannot be read: damaged, or written by a newer version. Lists and figures lack the lines of ledger/dt=2026-11-20/hour=10/ and others, which are missing or cannot be read.',
  },
  'jobs-failing': {
    facts: {
      failing: { failed: 1, refused: 1200 },
      failingSince: '2026-11-20T07:52:00.000Z',
    },
    is: 'failures failing',
    params: {
      jobs: 1201,
      outcomes: { failed: 1, refused: 1200 },
      since: '2026-11-20T07:52:00.000Z',
    },
    text: '1,201 jobs are failing: 1 not fetched, 1,200 refused. The oldest has been open since 2026-11-20T07:52:00.000Z.',
  },
  'retention-ending': {
    facts: { retentionEnds: '2026-11-21T07:52:00.000Z' },
    is: 'failures failing',
    params: { ends: '2026-11-21T07:52:00.000Z' },
    text: 'The service deletes results of failing jobs from 2026-11-21T07:52:00.000Z on.',
  },
  'results-missing': {
    facts: { reconcile: { ...RECONCILED, missing: 3, withoutFailure: 2 } },
    is: 'expected warning',
    params: { jobs: 2 },
    text: 'Reconcile found 2 jobs without results for which the ledger has no failure.',
  },
  'expected-unknown': {
    facts: { reconcile: { ...RECONCILED, isWhole: false } },
    is: 'expected unknown',
    params: { since: null },
    text: 'Whether every job was received is unknown: no reconcile has been complete yet.',
  },
  'reconcile-not-configured': {
    facts: { reconcile: null, service: { configured: false, interval: 900_000 } },
    is: 'reconcile warning',
    params: {},
    text: 'Lost callbacks are not noticed: access to the speech service is not configured.',
  },
  'reconcile-not-scheduled': {
    facts: { reconcile: null, service: { configured: true, interval: null } },
    is: 'reconcile warning',
    params: {},
    text: 'Lost callbacks are not noticed: reconcile has never run, and does not run here.',
  },
  'reconcile-not-run': {
    facts: { reconcile: null },
    is: 'reconcile warning',
    params: {},
    text: 'Reconcile has not run yet; lost callbacks are not noticed until it has.',
    remedy: null,
  },
  'reconcile-overdue': {
    facts: { reconcile: { ...RECONCILED, finishedAt: '2026-11-19T09:00:00Z' } },
    is: 'reconcile warning',
    params: { since: '2026-11-19T09:00:00Z' },
    text: 'Reconcile last finished at 2026-11-19T09:00:00Z; callbacks lost since are not noticed.',
    also: ['expected-unknown'],
  },
  'reconcile-incomplete': {
    facts: { reconcile: { ...RECONCILED, faults: ['eu1: answered 401', 'us1: too'] } },
    is: 'reconcile warning',
    params: { faults: 2, first: 'eu1: answered 401' },
    text: 'The last reconcile was incomplete: eu1: answered 401 (and 1 more).',
    also: ['expected-unknown'],
  },
  'artefacts-missing': {
    facts: { verify: { ...VERIFIED, missing: 2, damaged: 1 } },
    is: 'verify failing',
    params: { missing: 2, damaged: 1, finishedAt: '2026-11-15T04:00:00Z' },
    text: 'Verify found 2 artefacts missing from the store and 1 artefact damaged; it last ran at 2026-11-15T04:00:00Z.',
  },
  'verify-incomplete': {
    facts: { verify: { ...VERIFIED, faults: ['jobs/a/data: timed out'] } },
    is: 'verify warning',
    params: { faults: 1, first: 'jobs/a/data: timed out' },
    text: 'The last verify was incomplete: jobs/a/data: timed out.',
  },
  'credentials-expired': {
    facts: {
      credentials: [EXPIRED, { ...EXPIRED, credential: 'b', expires: '2026-11-18T12:00:00.000Z' }],
    },
    is: 'credentials failing',
    params: { source: 's', since: '2026-11-19T12:00:00.000Z', next: null },
    text: 'No credential of s is valid; the last one expired at 2026-11-19T12:00:00.000Z: its callbacks are rejected with 401.',
  },
  'credential-expired': {
    facts: { credentials: [EXPIRED, VALID] },
    is: 'credentials warning',
    params: { source: 's', credential: 'c', expires: '2026-11-19T12:00:00.000Z' },
    text: 'The credential s/c expired at 2026-11-19T12:00:00.000Z.',
  },
  'credential-expiring': {
    facts: { credentials: [EXPIRING] },
    is: 'credentials warning',
    params: {
      source: 's',
      credential: 'c',
      expires: '2026-11-23T12:00:00.000Z',
      lastUsedAt: null,
      successor: null,
    },
    text: 'The credential s/c expires at 2026-11-23T12:00:00.000Z.',
    remedy: 'Add its successor to sources.s.credentials, restart, and submit jobs with it.',
  },
  'quarantine-growing': {
    facts: { waiting: 2 },
    is: 'quarantine warning',
    params: { bodies: 2 },
    text: '2 undecodable bodies wait in quarantine.',
  },
  'subscriber-state-damaged': {
    facts: subscribed({ ...SUBSCRIBER, stateDamaged: true }),
    is: 'subscribers warning',
    params: { subscriber: 'crm' },
    text: 'Nothing is sent to crm: outbox/crm/state.json is gone, damaged, or of a newer version.',
  },
  'subscriber-paused': {
    facts: subscribed({
      ...SUBSCRIBER,
      openSince: '2026-11-20T11:58:00.000Z',
      lagSeconds: 120,
      lastError: ANSWERED_503,
    }),
    is: 'subscribers warning',
    params: { subscriber: 'crm', since: '2026-11-20T11:58:00.000Z', status: 503, error: null },
    text: 'Sending to crm has been paused since 2026-11-20T11:58:00.000Z, because its address fails; it answered 503 last.',
  },
  'subscriber-lagging': {
    facts: subscribed({ ...SUBSCRIBER, lagSeconds: LAG, lastError: ANSWERED_503 }),
    is: 'subscribers warning',
    params: { subscriber: 'crm', since: '2026-11-20T11:40:00.000Z', status: 503, error: null },
    text: 'Events for crm have waited since 2026-11-20T11:40:00.000Z; it answered 503 last.',
  },
  'events-dead': {
    facts: subscribed({ ...SUBSCRIBER, dead: 2 }),
    is: 'subscribers warning',
    params: { subscriber: 'crm', events: 2 },
    text: '2 events for crm could not be sent; a replay can send them.',
    remedy: 'Once it answers, run transcript-receiver replay notify --subscriber crm --dead.',
  },
};

function subscribed(facts: Parameters<typeof subscriberIssues>[0]): Partial<VerdictFacts> {
  return { subscribers: [{ issues: subscriberIssues(facts, NOW) }] };
}

describe('an issue', () => {
  it.each(ISSUE_CODES)('%s has its facts, its words and what to do', (code) => {
    const { facts, is, params, text, remedy = expect.any(String), also = [] } = EXPECTED[code];
    const issue = { code, params, topic: is.split(' ')[0], level: is.split(' ')[1] };
    const { issues } =
      facts === null ? { issues: [issueOf(code, params)] } : verdictOf({ ...WELL, ...facts }, NOW);
    expect(issues).toEqual([issue, ...also.map((other) => expect.objectContaining({ code: other }))]);
    expect(describeIssue({ code, params })).toEqual({ label: expect.stringMatching(/^[A-Z]/), text, remedy });
  });

  it('misses no results while the index is built: it may lack what settled them', () => {
    const facts = { ...WELL, reconcile: { ...RECONCILED, withoutFailure: 2 }, isIndexed: false };
    expect(verdictOf(facts, NOW)).toMatchObject({ level: 'unknown', issues: [] });
  });

  it('shows its instants as the reader asks', () => {
    const { params } = EXPECTED['reconcile-overdue'];
    const { text } = describeIssue({ code: 'reconcile-overdue', params }, (instant) => `<${instant}>`);
    expect(text).toBe(
      'Reconcile last finished at <2026-11-19T09:00:00Z>; callbacks lost since are not noticed.',
    );
  });

  it('has a name that tells sources, credentials and subscribers apart', () => {
    const named = (code: IssueCode) => issueName({ code, params: EXPECTED[code].params });
    expect([named('credential-expired'), named('credentials-expired'), named('events-dead')]).toEqual([
      'credential-expired:s/c',
      'credentials-expired:s',
      'events-dead:crm',
    ]);
    expect(named('jobs-failing')).toBe('jobs-failing');
  });
});

describe('advice', () => {
  /** What destroys, or begins anew: it would make a green page of a loss. */
  const DANGEROUS =
    /(?<!do not )\bdelete\b|\b(drop|empty|wipe|format|reset)\b|\bbegins? (a new|again|anew)|\bnew (store|bucket)\b/i;

  it('of issues and reasons neither destroys nor begins anew', () => {
    const about = { source: 's', subscriber: 's', replica: 'r' };
    const params = { ...about, condition: null, successor: null, cause: null, job: null } as never;
    const issues = Object.values(ISSUES).map(({ remedy }) =>
      typeof remedy === 'function' ? remedy(params) : (remedy ?? ''),
    );
    const reasons = Object.values(REASONS).map(({ remedy }) => remedy ?? '');
    const advice = [...issues, ...reasons];
    expect(advice.length).toBeGreaterThan(100);
    expect(advice.filter((text) => DANGEROUS.test(text))).toEqual([]);
  });
});

describe('the verdict about credentials', () => {
  const USED = { ...EXPIRING, lastUsedAt: '2026-11-20T11:00:00.000Z' };
  const LATER = { ...VALID, state: 'not-yet-valid' as const, notBefore: '2026-11-21T12:00:00.000Z' };
  const issuesOf = (facts: Partial<VerdictFacts>) =>
    verdictOf({ ...WELL, ...facts }, NOW).issues.map((issue) => {
      const { text, remedy } = describeIssue(issue);
      return `${text} ${remedy}`;
    });

  it('leads away from one that ends, as long as it is used', () => {
    expect(issuesOf({ credentials: [USED, VALID] })).toEqual([
      'The credential s/c expires at 2026-11-23T12:00:00.000Z; it was last used at 2026-11-20T11:00:00.000Z. Submit jobs with d: transcript-receiver notification-config s --credential d. Extend expires while jobs submitted with the old one run.',
    ]);
    expect(issuesOf({ credentials: [EXPIRING, VALID] })).toEqual([]);
    const unknown = { credentials: NO_ANSWER };
    expect(issuesOf({ credentials: [EXPIRING, VALID], unknown })).toHaveLength(1);
  });

  it('fails where the only other credential is not valid yet', () => {
    expect(issuesOf({ credentials: [EXPIRED, LATER] })).toEqual([
      expect.stringMatching(
        /^No credential of s is valid; the last one expired at 2026-11-19T12:00:00.000Z; the next one is valid from 2026-11-21T12:00:00.000Z: its callbacks are rejected with 401\. Make one valid/,
      ),
    ]);
    expect(issuesOf({ credentials: [LATER] })).toHaveLength(1);
  });

  it('does not cover those that this configuration lacks, unless a receiver answers', () => {
    const lacking = { ...WELL, otherCredentials: true };
    expect(verdictOf({ ...lacking, receiver: null }, NOW).unseen).toEqual(['credentials']);
    expect(verdictOf(lacking, NOW).unseen).toEqual([]);
  });
});

describe('the verdict', () => {
  it('is that all is well only when everything was looked at', () => {
    const verdict = verdictOf(WELL, NOW);
    expect(verdict).toEqual({ level: 'ok', index: INDEX, unseen: [], issues: [] });
    expect([headlineOf(verdict), textWithoutIssues(verdict, 1900, String)]).toEqual([
      'All is well',
      '1,900 deliveries in the last 24 hours, no job is failing.',
    ]);
    expect(notCovered(verdict, String)).toBeNull();
  });

  it.each<[string, Partial<VerdictFacts>, string[], RegExp, 'ok' | 'unknown']>([
    [
      'deliveries that are not in the index',
      { index: { ...INDEX, since: '2026-11-20T10:00:00.000Z' }, isIndexed: false },
      ['deliveries'],
      /^Not in the index of the ledger: lines written before 2026-11-20T10:00:00.000Z\.$/,
      'unknown',
    ],
    [
      'a quarantine that could not be listed',
      { waiting: null, unknown: { quarantine: NO_ANSWER } },
      ['quarantine'],
      /^Not covered: the quarantine\.$/,
      'unknown',
    ],
    [
      'reports that could not be read',
      { reconcile: null, verify: null, unknown: { reconcile: NO_ANSWER, verify: NO_ANSWER } },
      ['reconcile', 'verify'],
      /the results of reconcile; the results of verify/,
      'unknown',
    ],
    [
      'failing jobs that could not be read',
      { failing: null, unknown: { failing: NO_ANSWER } },
      ['failing'],
      /the failing jobs/,
      'unknown',
    ],
    [
      'what covers all sources, for a token that may see some',
      { scoped: true, waiting: null, reconcile: null, verify: null },
      ['quarantine', 'reconcile', 'verify'],
      /the quarantine/,
      // It is known what a token leaves out.
      'ok',
    ],
    [
      'callbacks that could not be counted',
      { callbacks: null, unknown: { callbacks: NO_ANSWER } },
      ['callbacks'],
      /the callbacks of the last hour/,
      'unknown',
    ],
  ])('claims no more than was looked at: %s', (_, overrides, unseen, coverage, level) => {
    const verdict = verdictOf({ ...WELL, ...overrides }, NOW);
    expect(verdict).toMatchObject({ level, unseen, issues: [] });
    expect(headlineOf(verdict)).toBe(level === 'ok' ? 'No issue found' : 'Not everything is known');
    expect(textWithoutIssues(verdict, 7, String)).toMatch(/no failing job was found in what was read/);
    const period = overrides.index?.since ? `since ${overrides.index.since}` : 'in the last 24 hours';
    expect(textWithoutIssues(verdict, 7, String)).toContain(`7 deliveries ${period}, `);
    expect(textWithoutIssues(verdict, 0, String)).toBe(`No delivery ${period} was found.`);
    expect(textWithoutIssues(verdict, null, String)).toBe('The deliveries could not be counted.');
    expect(notCovered(verdict, String)).toMatch(coverage);
  });

  it('covers nothing while no delivery was read', () => {
    const index = { since: null, until: null, missing: [] };
    const verdict = verdictOf({ ...WELL, index, isIndexed: false }, NOW);
    expect(verdict).toMatchObject({ level: 'unknown', index, unseen: ['deliveries'] });
    expect(notCovered(verdict, String)).toMatch(/^The index of the ledger is not built yet/);
  });

  it('puts the worst first', () => {
    const verdict = verdictOf({ ...WELL, waiting: 1, verify: { ...VERIFIED, missing: 1 } }, NOW);
    expect(verdict.level).toBe('failing');
    expect(verdict.issues.map(({ code }) => code)).toEqual(['artefacts-missing', 'quarantine-growing']);
    expect(headlineOf(verdict)).toBe('Act now');
  });

  it('puts what callbacks suffer before all else of the same level', () => {
    const missed = { jobs: 40, lastHour: 40, ofJobs: 40, lastJob: 'j', bySource: [] };
    const { issues } = verdictOf(
      {
        ...WELL,
        store: { ...WELL.store, writable: false },
        waiting: 1,
        callbacks: { ...CALLBACKS, missed },
      },
      NOW,
    );
    expect(issues.map(({ code }) => code)).toEqual([
      'callbacks-missed',
      'store-not-writable',
      'quarantine-growing',
    ]);
  });

  it('says once what keeps store and ledger away', () => {
    const reason = 'the folder is gone';
    const store = { ...WELL.store, writable: false, reason, condition: 'missing' } as const;
    const words = (error: string) =>
      verdictOf({ ...WELL, store, ledger: { ...WELL.ledger, error } }, NOW)
        .issues.map((issue) => Object.values(describeIssue(issue)).join(' '))
        .join(' ');
    expect(words(reason).split(reason)).toHaveLength(2);
    expect(words(reason)).toContain('The ledger cannot be read either. What is shown is of');
    expect(words('no list')).toContain('The ledger cannot be read: no list.');
  });

  it('counts the failing jobs that the index has, whatever of the ledger is not in it or cannot be read', () => {
    const failing = {
      failing: { failed: 14 },
      failingSince: '2026-11-20T07:52:00Z',
      retentionEnds: '2026-11-27T07:52:00Z',
      isIndexed: false,
      ledger: { ...WELL.ledger, state: 'loading', error: 'no list' } as const,
    };
    const { issues } = verdictOf({ ...WELL, ...failing }, NOW);
    expect(issues.map((issue) => describeIssue(issue).text)).toEqual(
      expect.arrayContaining([
        '14 jobs are failing: 14 not fetched. The oldest has been open since 2026-11-20T07:52:00Z.',
        'The service deletes results of failing jobs from 2026-11-27T07:52:00Z on.',
      ]),
    );
  });

  it.each([
    ['once that jobs are missing and failing', 0, ['jobs-failing']],
    ['what else is missing while a job is failing', 1, ['jobs-failing', 'results-missing']],
  ])('says %s', (_what, withoutFailure, codes) => {
    const reconcile = { ...RECONCILED, missing: 2, withoutFailure };
    const { issues } = verdictOf({ ...WELL, failing: { failed: 2 }, reconcile }, NOW);
    expect(issues.map(({ code }) => code)).toEqual(codes);
  });
});
