import { describe, expect, it } from '@jest/globals';
import { pageModule } from '../../../support/page-module.js';

const { verdictShown, lastSeen } = await pageModule('verdict');
const { tilesOf } = await pageModule('tiles');

const NOW = Date.parse('2026-11-20T12:00:00Z');
const WELL = {
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
  quarantine: { waiting: 0, waitingBytes: 0, released: 0 },
  reconcile: null,
  credentials: [],
  ledger: { state: 'ready', error: null, rows: 7, broken: { count: 0 }, refreshedAt: '2026-11-20T11:59:59Z' },
};
const VERDICT = {
  level: 'failing',
  headline: 'Act now',
  sentence: 'first.',
  troubles: [
    { level: 'failing', text: 'first.', topic: 'failures' },
    { level: 'warning', text: 'second.', topic: 'store' },
  ],
  since: null,
  unseen: [],
};

type Tile = { id: string; tone: string; action?: { href: string } };

describe('the verdict on the page', () => {
  it('is the receiver’s own, with the way to what to do', () => {
    expect(verdictShown(VERDICT)).toEqual({
      tone: 'bad',
      word: 'Act now',
      sentence: 'first.',
      href: '#/failures',
      more: [{ text: 'second.', href: '#/help/store' }],
    });
  });

  it('gives way when the receiver does not answer any more', () => {
    const shown = lastSeen({ ...VERDICT, headline: 'All is well', sentence: 'Fine.' }, '12:00:00');
    expect(shown).toMatchObject({ tone: 'neutral', word: 'Last seen 12:00:00' });
    expect(shown.sentence).toMatch(/^It was then: All is well. Fine. What holds now is not known/);
  });
});

describe('the tiles', () => {
  const wellOrQuiet = ({ tone }: Tile) => tone === 'good' || tone === 'neutral';

  it('are good when nothing is wrong', () => {
    expect(tilesOf(WELL, NOW).every(wellOrQuiet)).toBe(true);
  });

  it.each<[string, string, object]>([
    [
      'store',
      'a store that cannot be written',
      { store: { ...WELL.store, writable: false, reason: 'full' } },
    ],
    ['failures', 'failing jobs', { failing: { failed: 2 } }],
    ['quarantine', 'a full quarantine', { quarantine: { ...WELL.quarantine, waiting: 2 } }],
    ['ledger', 'a ledger that cannot be followed', { ledger: { ...WELL.ledger, error: 'no list' } }],
  ])('%s shows %s', (id, _, overrides) => {
    const tile = tilesOf({ ...WELL, ...overrides }, NOW).find((one: Tile) => one.id === id);
    expect(wellOrQuiet(tile)).toBe(false);
    expect(tile.action?.href).toMatch(/^#\//);
  });
});
