import { describe, expect, it } from '@jest/globals';
import { pageModule } from '../../../../support/dashboard/page-module.js';

const { describeVerdict, describeLastSeen } = pageModule('views/overview/verdict-banner');
const { healthTiles } = pageModule('views/overview/health-tiles');
const { keepSession } = pageModule('lib/api/session');

const NOW = Date.parse('2026-11-20T12:00:00Z');
const WELL = {
  scope: null,
  unknown: {},
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
  verify: null,
  credentials: [],
  subscribers: [],
  ledger: {
    state: 'ready',
    error: null,
    rows: 7,
    broken: { count: 0 },
    newer: { count: 0 },
    refreshedAt: '2026-11-20T11:59:59Z',
  },
};
const SUBSCRIBER = { name: 'crm', dead: 0, lagSeconds: 0, breaker: 'closed' };
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
    expect(describeVerdict(VERDICT)).toEqual({
      tone: 'bad',
      word: 'Act now',
      sentence: 'first.',
      href: '#/failures',
      more: [{ text: 'second.', href: '#/help/store' }],
    });
  });

  it('gives way when the receiver does not answer any more', () => {
    const shown = describeLastSeen({ ...VERDICT, headline: 'All is well', sentence: 'Fine.' }, '12:00:00');
    expect(shown).toMatchObject({ tone: 'neutral', word: 'Last seen 12:00:00' });
    expect(shown.sentence).toMatch(/^At that time: All is well. Fine. The current state is unknown/);
  });
});

describe('the verdict’s instants', () => {
  it('are shown like every other time on the page', () => {
    const sentence = 'The credential a/b expires 2026-11-30T22:24:45.952Z: add its successor now.';
    expect(describeVerdict({ ...VERDICT, sentence }).sentence).not.toMatch(/T22|952Z/);
  });
});

describe('the tiles', () => {
  const wellOrQuiet = ({ tone }: Tile) => tone === 'good' || tone === 'neutral';

  it('are good when nothing is wrong', () => {
    expect(healthTiles(WELL, NOW).every(wellOrQuiet)).toBe(true);
  });

  it.each<[string, string, object]>([
    [
      'store',
      'a store that cannot be written',
      { store: { ...WELL.store, writable: false, reason: 'full' } },
    ],
    ['failures', 'failing jobs', { failing: { failed: 2 } }],
    ['quarantine', 'a full quarantine', { quarantine: { ...WELL.quarantine, waiting: 2 } }],
    ['subscribers', 'events that were not sent', { subscribers: [{ ...SUBSCRIBER, dead: 1 }] }],
    ['subscribers', 'a subscriber that is down', { subscribers: [{ ...SUBSCRIBER, breaker: 'open' }] }],
    ['subscribers', 'a subscriber that lags', { subscribers: [{ ...SUBSCRIBER, lagSeconds: 3600 }] }],
    ['ledger', 'a ledger that cannot be followed', { ledger: { ...WELL.ledger, error: 'no list' } }],
  ])('%s shows %s', (id, _, overrides) => {
    const tile = healthTiles({ ...WELL, ...overrides }, NOW).find((one: Tile) => one.id === id);
    expect(wellOrQuiet(tile)).toBe(false);
    expect(tile.action?.href).toMatch(/^#\//);
  });

  it.each([
    ['quarantine', 'quarantine'],
    ['failures', 'failing'],
    ['expected', 'reconcile'],
    ['reconcile', 'reconcile'],
    ['verify', 'verify'],
    ['subscribers', 'subscribers'],
  ])('%s is unknown, neither none nor good, when %s could not be read', (id, fact) => {
    const why = { reason: 'the ledger cannot be read: no answer', since: '2026-11-20T11:57:00Z' };
    const tileOf = (more: object) =>
      healthTiles({ ...WELL, ...more }, NOW).find((one: Tile) => one.id === id);
    expect(tileOf({ [fact]: null, unknown: { [fact]: why } })).toMatchObject({
      tone: 'neutral',
      word: 'Unknown',
      figure: '–',
      details: [expect.stringMatching(/^The ledger was last read .*3 min/), why.reason],
    });
    expect(tileOf({ subscribers: [SUBSCRIBER] }).word).not.toBe('Unknown');
  });

  it('keep failing jobs that are known while the ledger cannot be read', () => {
    const unknown = { last24h: { reason: 'no answer', since: null } };
    const tiles = healthTiles({ ...WELL, failing: { failed: 2 }, last24h: null, unknown }, NOW);
    expect(tiles.find(({ id }: Tile) => id === 'failures')).toMatchObject({
      tone: 'bad',
      figure: '2',
      details: ['At least: the ledger cannot be read'],
    });
  });

  it('show subscribers only where there are some', () => {
    const ids = (subscribers: object) =>
      healthTiles({ ...WELL, subscribers }, NOW).map(({ id, tone }: Tile) => `${id} ${tone}`);
    expect(ids([]).join()).not.toContain('subscribers');
    expect(ids([SUBSCRIBER])).toContain('subscribers good');
  });

  it('show an action only where one is needed', () => {
    const texts = (health: object) =>
      Object.fromEntries(
        healthTiles(health, NOW).map(({ id, action }: { id: string; action: { text: string } }) => [
          id,
          action.text,
        ]),
      );
    expect(new Set(Object.values(texts(WELL)))).toEqual(new Set(['What this means']));
    const full = { ...WELL, store: { ...WELL.store, writable: false, reason: 'full' } };
    expect(texts(full)).toMatchObject({ store: 'What to do', receiving: 'What this means' });
  });

  it('show what verify found, and link to the refetch of what the service still has', () => {
    keepSession({ actor: 'ops', may: ['view', 'repair'], sources: null });
    const intact = {
      finishedAt: '2026-11-20T11:50:00Z',
      window: { since: '2026-10-21T11:00:00Z', until: '2026-11-20T11:00:00Z' },
      ...{ deep: false, complete: true, checked: 1200, missing: 0, damaged: 0, refetch: [], faults: [] },
    };
    const tileOf = (figures: object | null) =>
      healthTiles({ ...WELL, verify: figures }, NOW).find(({ id }: Tile) => id === 'verify');
    expect(tileOf(null)).toMatchObject({ tone: 'neutral', word: 'Never' });
    expect(tileOf(intact)).toMatchObject({ tone: 'good', details: ['1,200 artefacts of 30 days checked'] });
    expect(tileOf({ ...intact, faults: ['the store failed'] })).toMatchObject({
      tone: 'notice',
      word: 'Incomplete',
    });
    const lost = tileOf({ ...intact, deep: true, missing: 2, damaged: 1, refetch: ['a', 'b'] });
    expect(lost).toMatchObject({
      tone: 'bad',
      word: '3 not intact',
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
    };
    const expected = (figures: object) =>
      healthTiles({ ...WELL, reconcile: figures }, NOW).find(({ id }: Tile) => id === 'expected');
    expect(expected(reconcile).details).toEqual([
      '1,884 received + 3 missing + 2 pending = 1,889',
      '38 of these were fetched by reconcile',
    ]);
    expect(expected({ ...reconcile, missing: 5 }).details).toContain('A later run found 5 missing');
  });
});
