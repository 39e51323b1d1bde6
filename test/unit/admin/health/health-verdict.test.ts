import { describe, expect, it } from '@jest/globals';
import { type VerdictFacts, verdictOf } from '../../../../src/admin/health/health-verdict.js';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const RECONCILED = {
  startedAt: '2026-11-20T10:59:00Z',
  finishedAt: '2026-11-20T11:00:00Z',
  window: null,
  outcomes: {},
  expected: 5,
  received: 5,
  missing: 0,
  faults: [],
};
const VERIFIED = {
  startedAt: '2026-11-15T03:41:00Z',
  finishedAt: '2026-11-15T04:00:00Z',
  window: { since: '2026-10-16T03:41:00Z', until: '2026-11-15T03:41:00Z' },
  ...{ deep: false, complete: true, checked: 9, bytes: 900, missing: 0, damaged: 0, refetch: [], faults: [] },
};
const WELL: VerdictFacts = {
  receiver: { ready: true, reason: null, draining: false, waiters: 0 },
  store: { writable: true, reason: null, condition: null },
  ledger: {
    state: 'ready',
    completeSince: '2026-11-13T12:00:00.000Z',
    error: null,
    condition: null,
    rows: 7,
    broken: { count: 0, segments: [] },
    newer: { count: 0, segments: [] },
    refreshedAt: '2026-11-20T11:59:59Z',
  },
  looked: { since: '2026-11-13T12:00:00.000Z', unseen: [] },
  deliveries24h: 7,
  failing: {},
  retentionEnds: null,
  waiting: 0,
  reconcile: RECONCILED,
  verify: VERIFIED,
  service: { configured: true, interval: 900_000 },
  credentials: [],
  subscribers: [],
  unknown: {},
};
const NO_ANSWER = { reason: 'no answer', since: null };
const EXPIRING = {
  source: 's',
  credential: 'c',
  state: 'expiring' as const,
  expires: '2026-11-23T12:00:00Z',
  notBefore: null,
  lastUsedAt: null,
  advice: 'The credential s/c expires 2026-11-23: add its successor now.',
};
const EXPIRED = {
  ...EXPIRING,
  state: 'expired' as const,
  advice: 'The credential s/c has expired: remove it.',
};

describe('the verdict', () => {
  it('is healthy only after a complete check', () => {
    expect(verdictOf(WELL, NOW)).toMatchObject({
      level: 'ok',
      headline: 'All is well',
      troubles: [],
      unseen: [],
    });
  });

  it.each<[string, Partial<VerdictFacts>, RegExp]>([
    [
      'deliveries that are neither in memory nor compacted',
      {
        looked: { since: '2026-11-20T10:00:00.000Z', unseen: ['deliveries before 2026-11-20T10:00:00.000Z'] },
      },
      /deliveries before 2026-11-20T10:00:00/,
    ],
    [
      'a quarantine that could not be listed',
      { waiting: null, unknown: { quarantine: NO_ANSWER } },
      /quarantine/,
    ],
    [
      'reports of reconcile that could not be read',
      { reconcile: null, unknown: { reconcile: NO_ANSWER } },
      /of reconcile/,
    ],
    [
      'reports of verify that could not be read',
      { verify: null, unknown: { verify: NO_ANSWER } },
      /of verify/,
    ],
    [
      'deliveries that could not be counted',
      { deliveries24h: null, failing: null, unknown: { failing: NO_ANSWER } },
      /failing jobs/,
    ],
  ])('claims no more than it saw: %s', (_, overrides, unseen) => {
    const verdict = verdictOf({ ...WELL, ...overrides }, NOW);
    expect(verdict).toMatchObject({ level: 'ok', headline: 'No trouble seen' });
    expect(verdict.unseen.join()).toMatch(unseen);
    expect(verdict.sentence).toMatch(unseen);
  });

  it.each<[string, Partial<VerdictFacts>, 'warning' | 'failing', RegExp]>([
    [
      'a store that cannot be written',
      { store: { writable: false, reason: 'disk full', condition: 'full' } },
      'failing',
      /disk full\. Callbacks are answered 503\. Free space/,
    ],
    [
      'a replica that is not ready',
      { receiver: { ready: false, reason: 'why', draining: false, waiters: 0 } },
      'failing',
      /why/,
    ],
    [
      'a replica that leaves',
      { receiver: { ready: false, reason: 'leaving', draining: true, waiters: 0 } },
      'warning',
      /shutting down/,
    ],
    ['a ledger that cannot be read', { ledger: { ...WELL.ledger, error: 'no list' } }, 'failing', /no list/],
    [
      'failing jobs',
      { failing: { failed: 1, refused: 1 } },
      'failing',
      /2 jobs are failing: 1 not fetched, 1 refused/,
    ],
    ['a quarantine that is not empty', { waiting: 2 }, 'warning', /2 undecodable bodies wait/],
    ['a credential that expires', { credentials: [EXPIRING] }, 'warning', /s\/c expires/],
    [
      'a source whose credentials have all expired',
      { credentials: [EXPIRED] },
      'failing',
      /Every credential of s/,
    ],
    [
      'an expired credential beside a valid one',
      { credentials: [EXPIRED, { ...EXPIRING, credential: 'd', state: 'in-use', advice: null }] },
      'warning',
      /s\/c has expired/,
    ],
    ['missing jobs', { reconcile: { ...RECONCILED, missing: 2 } }, 'warning', /misses the results of 2 jobs/],
    [
      'a reconcile that did not see everything',
      { reconcile: { ...RECONCILED, faults: ['eu1: answered 401', 'us1: too'] } },
      'warning',
      /not see everything: eu1: answered 401 \(and 1 more\)/,
    ],
    ['a reconcile that has not run yet', { reconcile: null }, 'warning', /has not run yet/],
    [
      'a reconcile that is never run',
      { reconcile: null, service: { configured: true, interval: null } },
      'warning',
      /has never run, and does not run here/,
    ],
    [
      'a service that cannot be asked',
      { reconcile: null, service: { configured: false, interval: 900_000 } },
      'warning',
      /cannot be asked; set speech\.apiKey/,
    ],
    [
      'a reconcile that is overdue',
      { reconcile: { ...RECONCILED, finishedAt: '2026-11-19T09:00:00Z' } },
      'warning',
      /last finished at 2026-11-19/,
    ],
    [
      'artefacts that verify did not find',
      { verify: { ...VERIFIED, missing: 2, damaged: 1 } },
      'failing',
      /Verify found 2 artefacts missing from the store and 1 artefact damaged\./,
    ],
    [
      'a verify that did not look everywhere',
      { verify: { ...VERIFIED, faults: ['jobs/a/data: timed out', 'jobs/b/data: too'] } },
      'warning',
      /not look everywhere: jobs\/a\/data: timed out \(and 1 more\)/,
    ],
    [
      'deliveries that wait for memory',
      { receiver: { ready: true, reason: null, draining: false, waiters: 1 } },
      'warning',
      /1 delivery waits for memory/,
    ],
    [
      'damaged lines',
      { ledger: { ...WELL.ledger, broken: { count: 3, segments: [] } } },
      'warning',
      /3 lines of the ledger/,
    ],
    [
      'lines of a newer version',
      { ledger: { ...WELL.ledger, newer: { count: 2, segments: [] } } },
      'warning',
      /2 lines of the ledger were written by a newer version and cannot be read: upgrade this replica/,
    ],
    [
      'a ledger that is still loading',
      { ledger: { ...WELL.ledger, state: 'loading' } },
      'warning',
      /being read/,
    ],
  ])('tells of %s', (_, overrides, level, sentence) => {
    const verdict = verdictOf({ ...WELL, ...overrides }, NOW);
    expect(verdict.level).toBe(level);
    expect(verdict.headline).toBe(level === 'failing' ? 'Act now' : 'Look at this');
    expect(verdict.sentence).toMatch(sentence);
  });

  it('puts the most urgent first', () => {
    const { level, troubles } = verdictOf({ ...WELL, credentials: [EXPIRING], failing: { failed: 1 } }, NOW);
    expect(level).toBe('failing');
    expect(troubles.map(({ topic }) => topic)).toEqual(['failures', 'credentials']);
  });
});
