import { describe, expect, it } from '@jest/globals';
import { pageModule } from '../../../support/page-module.js';

const { verdict } = await pageModule('verdict');
const { tilesOf } = await pageModule('tiles');

const NOW = Date.parse('2026-11-20T12:00:00Z');
const WELL = {
  problems: [],
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
  quarantine: { waiting: 0, waitingBytes: 0, released: 0 },
  reconcile: null,
  credentials: [],
  ledger: { state: 'ready', error: null, rows: 7, broken: { count: 0 }, refreshedAt: '2026-11-20T11:59:59Z' },
};
const EXPIRING = {
  source: 's',
  credential: 'c',
  state: 'expiring',
  expires: '2026-11-23T12:00:00Z',
  lastUsedAt: null,
};
const RECONCILED = {
  finishedAt: '2026-11-20T11:00:00Z',
  outcomes: {},
  expected: 5,
  received: 3,
  missing: 2,
  faults: [],
};

describe('the verdict', () => {
  it('is well when nothing says otherwise', () => {
    expect(verdict(WELL, NOW)).toMatchObject({ tone: 'good', word: 'All is well', more: [] });
    expect(tilesOf(WELL, NOW).some(({ tone }: { tone: string }) => tone === 'bad' || tone === 'notice')).toBe(
      false,
    );
  });

  it.each<[string, object, object, string, RegExp]>([
    [
      'a store that cannot be written',
      { ready: false, store: { ...WELL.store, writable: false, reason: 'disk full' } },
      {},
      'bad',
      /disk full/,
    ],
    ['a replica that is not ready', { ready: false, problems: ['why'] }, {}, 'bad', /why/],
    ['a replica that leaves', { ready: false, draining: true }, {}, 'notice', /shutting down/],
    [
      'a ledger that cannot be followed',
      { ledger: { ...WELL.ledger, error: 'no list' } },
      {},
      'bad',
      /no list/,
    ],
    ['failing jobs', {}, { failed: 1, refused: 1 }, 'bad', /2 jobs are failing: 1 not fetched, 1 refused/],
    [
      'a full quarantine',
      { quarantine: { ...WELL.quarantine, waiting: 2 } },
      {},
      'notice',
      /2 bodies .* wait in/,
    ],
    ['a credential that expires', { credentials: [EXPIRING] }, {}, 'notice', /s\/c expires in 3 days/],
    [
      'a credential that expired',
      { credentials: [{ ...EXPIRING, state: 'expired' }] },
      {},
      'bad',
      /has expired/,
    ],
    ['a reconcile that missed jobs', { reconcile: RECONCILED }, {}, 'notice', /missed 2 jobs/],
    [
      'a reconcile that did not see everything',
      { reconcile: { ...RECONCILED, missing: 0, faults: ['eu1: answered 401'] } },
      {},
      'notice',
      /not see everything: eu1: answered 401/,
    ],
    ['deliveries that wait', { budget: { ...WELL.budget, waiters: 1 } }, {}, 'notice', /memory/],
    ['damaged lines', { ledger: { ...WELL.ledger, broken: { count: 3 } } }, {}, 'notice', /3 lines/],
  ])('tells of %s', (_, overrides, failing, tone, sentence) => {
    const health = { ...WELL, ...overrides };
    const found = verdict(health, NOW, failing);
    expect(found.tone).toBe(tone);
    expect(found.sentence).toMatch(sentence);
    expect(found.href).toMatch(/^#\/(failures|help\/\w+)$/);
    expect(
      tilesOf(health, NOW, failing).some(
        (tile: { tone: string }) => tile.tone !== 'good' && tile.tone !== 'neutral',
      ),
    ).toBe(true);
  });

  it('puts the worst first', () => {
    const { tone, more } = verdict({ ...WELL, credentials: [EXPIRING] }, NOW, { failed: 1 });
    expect(tone).toBe('bad');
    expect(more).toHaveLength(1);
  });
});
