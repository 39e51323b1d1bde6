import { describe, expect, it } from '@jest/globals';
import { issueOf } from '../../../../../../src/operations/issues/issue-kinds.js';
import type { Issue, Topic } from '../../../../../../src/operations/issues/issues.js';
import { pageModule } from '../../../../../support/dashboard/page-module.js';

const { healthTiles } = pageModule('views/overview/health-tiles');
const { keepSession } = pageModule('lib/api/session');

const NOW = Date.parse('2026-11-20T12:00:00Z');
const WELL = {
  verdict: {
    level: 'ok',
    index: { since: null, until: '2026-11-20T12:00:00.000Z', missing: [] },
    unseen: [],
    issues: [],
  },
  scope: null,
  unknown: {},
  callbacks: {
    since: '2026-11-20T11:00:00Z',
    accepted: 7,
    rejected: 0,
    lastAcceptedAt: '2026-11-20T11:58:00Z',
    missed: { since: '2026-11-19T12:00:00Z', jobs: 7, missed: 0, lastHour: 0 },
  },
  failing: {},
  ready: true,
  draining: false,
  store: {
    writable: true,
    reason: null,
    lastSuccessAt: '2026-11-20T11:59:58Z',
    latencyMs: 4,
    location: 'file:data',
  },
  budget: { total: 100, used: 0, waiters: 0 },
  activeDeliveries: 0,
  last24h: { lines: 7, outcomes: { stored: 7 } },
  quarantine: { waiting: 0, waitingBytes: 0, released: 0, settled: 0 },
  reconcile: null,
  verify: null,
  credentials: [],
  subscribers: [],
  ledger: {
    state: 'ready',
    error: null,
    rows: 7,
    place: { path: '/cache/index.sqlite', cause: null },
    refreshedAt: '2026-11-20T11:59:59Z',
  },
};
const SUBSCRIBER = { name: 'crm', dead: 0, lagSeconds: 0, retrying: 0, untried: 0, breaker: 'closed' };

interface Tile {
  readonly id: string;
  readonly tone: string;
  readonly word: string;
  readonly figure: string;
  readonly details: readonly string[];
  readonly action: { readonly href: string; readonly text: string };
}

const tilesOf = (more: object = {}): Tile[] => healthTiles({ ...WELL, ...more }, NOW);
const tileOf = (id: string, more: object = {}) => tilesOf(more).find((one) => one.id === id);
const withIssues = (...issues: Issue[]) => ({ verdict: { ...WELL.verdict, issues } });

describe('the tiles', () => {
  it('are eleven, good or quiet without issues, and explain themselves', () => {
    expect(tilesOf()).toHaveLength(11);
    for (const { id, tone, action } of tilesOf()) {
      expect([id, ['good', 'neutral'].includes(tone)]).toEqual([id, true]);
      expect(action).toEqual({ href: `#/help/${id}`, text: 'What this means' });
    }
  });

  it.each<[Topic, string, string, Issue]>([
    [
      'store',
      'bad',
      'Not writable',
      issueOf('store-not-writable', { reason: 'full', condition: 'full', since: null }),
    ],
    [
      'failures',
      'bad',
      'To repair',
      issueOf('jobs-failing', { jobs: 2, outcomes: { failed: 2 }, since: null }),
    ],
    ['quarantine', 'notice', 'Waiting', issueOf('quarantine-growing', { bodies: 2 })],
    ['reconcile', 'notice', 'Overdue', issueOf('reconcile-overdue', { since: '2026-11-19T09:00:00Z' })],
    ['subscribers', 'notice', 'Events not sent', issueOf('events-dead', { subscriber: 'crm', events: 1 })],
  ])('%s takes its level and its word from the issue of its topic', (id, tone, word, issue) => {
    expect(tileOf(id, withIssues(issue))).toMatchObject({ tone, word, action: { text: 'What this means' } });
    const others = tilesOf(withIssues(issue)).filter((tile) => tile.id !== id);
    expect(others).toEqual(tilesOf().filter((tile) => tile.id !== id));
  });

  it.each<[Topic, object]>([
    ['store', { store: { ...WELL.store, writable: false } }],
    [
      'reconcile',
      {
        reconcile: {
          finishedAt: '2020-01-01T00:00:00Z',
          received: 1,
          expected: 1,
          missing: 0,
          outcomes: {},
          faults: ['x'],
        },
      },
    ],
    ['subscribers', { subscribers: [{ ...SUBSCRIBER, dead: 9 }] }],
    ['callbacks', { callbacks: { ...WELL.callbacks, rejected: 9 } }],
    ['credentials', { credentials: [{ source: 's', credential: 'c', state: 'expired', lastUsedAt: null }] }],
  ])('%s does not judge by itself', (id, facts) => {
    expect(tileOf(id, facts)?.tone).toBe('good');
  });

  it.each<[string, object, string]>([
    ['waits for a subscriber', { lagSeconds: 60, untried: 1 }, 'Sending'],
    ['waits for a subscriber that is paused', { lagSeconds: 60, retrying: 1, breaker: 'open' }, 'Paused'],
  ])('are not good while an event %s', (_, facts, word) => {
    const subscribers = [{ ...SUBSCRIBER, ...facts }];
    expect(tileOf('subscribers', { subscribers })).toMatchObject({ tone: 'neutral', word });
  });

  it('are yellow beside a pause', () => {
    const params = { subscriber: 'crm', since: '2026-11-20T11:58:00Z', status: 503, error: null };
    const subscribers = [{ ...SUBSCRIBER, lagSeconds: 60, untried: 1590, breaker: 'open' }];
    expect(
      tileOf('subscribers', { ...withIssues(issueOf('subscriber-paused', params)), subscribers }),
    ).toMatchObject({
      tone: 'notice',
      word: 'Paused',
      details: ['1,590 events wait, the oldest for 1 min', 'Paused: crm'],
    });
  });

  it('are not good before a callback was accepted', () => {
    const callbacks = { ...WELL.callbacks, accepted: 0, lastAcceptedAt: null };
    expect(tileOf('callbacks', { callbacks })).toMatchObject({ tone: 'neutral', word: 'None lately' });
  });

  it.each<[Topic, string]>([
    ['callbacks', 'callbacks'],
    ['quarantine', 'quarantine'],
    ['failures', 'failing'],
    ['expected', 'reconcile'],
    ['reconcile', 'reconcile'],
    ['verify', 'verify'],
    ['subscribers', 'subscribers'],
  ])('%s is unknown, neither none nor good, when %s could not be read', (id, fact) => {
    const why = { reason: 'the ledger cannot be read: no answer', since: '2026-11-20T11:57:00Z' };
    expect(tileOf(id, { [fact]: null, unknown: { [fact]: why } })).toMatchObject({
      tone: 'neutral',
      word: 'Unknown',
      figure: '–',
      details: [expect.stringMatching(/^The ledger was last read .*3 min/), why.reason],
    });
    expect(tileOf(id)?.word).not.toBe('Unknown');
  });

  it.each([
    issueOf('ledger-unreadable', { reason: 'no answer', condition: null, since: null }),
    issueOf('store-not-writable', { reason: 'no answer', condition: null, since: null }),
  ])('leave it to the verdict to say why they are unknown', (issue) => {
    const unknown = { verify: { reason: 'the ledger cannot be read: no answer', since: null } };
    const ledger = { ...WELL.ledger, error: 'no answer' };
    const tiles = tilesOf({ ...withIssues(issue), ledger, verify: null, unknown });
    expect(tiles.find(({ id }) => id === 'verify')).toMatchObject({ word: 'Unknown', details: [] });
    expect(tiles.flatMap(({ details }) => details).join()).not.toContain('no answer');
  });

  it('have no latency of a store that cannot be written', () => {
    expect(tileOf('store')?.figure).toMatch(/ms$/);
    expect(tileOf('store', { store: { ...WELL.store, writable: false } })?.figure).toBe('–');
  });

  it('never say ready for a replica that is not, whose issue is that of the store', () => {
    expect(tileOf('receiving', { ready: false })).toMatchObject({ tone: 'neutral', word: 'Not ready' });
  });

  it('keep failing jobs that are known while the ledger cannot be read', () => {
    const issue = issueOf('jobs-failing', { jobs: 2, outcomes: { failed: 2 }, since: null });
    const unknown = { last24h: { reason: 'no answer', since: null } };
    expect(
      tileOf('failures', { ...withIssues(issue), failing: { failed: 2 }, last24h: null, unknown }),
    ).toMatchObject({ tone: 'bad', figure: '2', details: ['Refusals and recoveries in 24 h are unknown'] });
  });

  it('do not say that there is nothing while the index lacks deliveries', () => {
    const index = { ...WELL.verdict.index, since: '2026-11-20T11:00:00.000Z' };
    const partial = {
      verdict: { ...WELL.verdict, index, unseen: ['deliveries'] },
      subscribers: [SUBSCRIBER],
    };
    const none = { tone: 'neutral', word: 'None found', figure: '–' };
    for (const id of ['failures', 'quarantine']) expect(tileOf(id, partial)).toMatchObject(none);
    const details = tilesOf(partial).flatMap((tile) => tile.details);
    expect(details.join()).toMatch(/refusals since .*recoveries since /);
    expect(details.join()).not.toMatch(/in 24 h|0 B waiting/);
    expect(tileOf('subscribers', partial)).toMatchObject({ tone: 'neutral', word: 'Unknown' });
    expect(tileOf('ledger', partial)).toMatchObject({ tone: 'neutral', word: 'Partly read' });
    expect(tileOf('subscribers', { subscribers: [SUBSCRIBER] })).toMatchObject({ word: 'Up to date' });
    expect(tileOf('failures', {})).toMatchObject({ word: 'None' });
  });

  it('say that the index is in memory', () => {
    const ledger = { ...WELL.ledger, place: { path: null, cause: 'unwritable' } };
    expect(tileOf('ledger')?.details).toHaveLength(1);
    expect(tileOf('ledger', { ledger })).toMatchObject({
      tone: 'good',
      details: [expect.stringMatching(/^lines loaded/), 'in memory: small, and built again at each start'],
    });
  });

  it('show what verify found, and link to the refetch of what the service still has', () => {
    keepSession({ actor: 'ops', may: ['view', 'repair'], sources: null, canAskService: true });
    const intact = {
      finishedAt: '2026-11-20T11:50:00Z',
      window: { since: '2026-10-21T11:00:00Z', until: '2026-11-20T11:00:00Z' },
      deep: false,
      complete: true,
      checked: 1200,
      missing: 0,
      damaged: 0,
      refetch: [],
      faults: [],
    };
    expect(tileOf('verify')).toMatchObject({ tone: 'neutral', word: 'Never' });
    expect(tileOf('verify', { verify: intact })).toMatchObject({
      tone: 'good',
      details: ['1,200 artefacts of 30 days checked'],
    });
    const verify = { ...intact, deep: true, missing: 2, damaged: 1, refetch: ['a', 'b'] };
    expect(tileOf('verify', { verify })).toMatchObject({
      details: ['1,200 artefacts of 30 days checked byte for byte', '2 missing', '1 damaged'],
      action: { href: '#/replays?kind=refetch&jobs=a+b' },
    });
  });

  it('show figures of reconcile that add up to what is expected', () => {
    const reconcile = {
      finishedAt: '2026-11-20T11:50:00Z',
      faults: [],
      outcomes: { matched: 1846, recovered: 38, conflict: 0, pending: 2, unrecoverable: 1, failed: 2 },
      expected: 1889,
      received: 1884,
      missing: 3,
      isWhole: true,
      ignored: 12,
    };
    const callbacks = { ...WELL.callbacks, missed: { ...WELL.callbacks.missed, missed: 883 } };
    expect(tileOf('expected', { reconcile, callbacks })?.details).toEqual([
      '1,884 received + 3 missing + 2 pending = 1,889',
      '12 more not ours: no callback URL leads to a source here',
      '883 needed reconcile in 24 h',
    ]);
    const blind = { ...reconcile, isWhole: false, expected: 0, received: 0, missing: 0 };
    const unknown = withIssues(issueOf('expected-unknown', { since: null }));
    expect(tileOf('expected', { ...unknown, reconcile: blind })).toMatchObject({
      tone: 'neutral',
      word: 'Unknown',
      figure: '–',
      details: ['No job was seen'],
    });
    const later = { ...reconcile, missing: 5 };
    expect(tileOf('expected', { reconcile: later })?.details).toContain('A later run found 5 missing');
  });
});
