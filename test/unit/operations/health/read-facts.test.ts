import { describe, expect, it } from '@jest/globals';
import { type FactSources, readFacts } from '../../../../src/operations/health/read-facts.js';
import type { Issue } from '../../../../src/operations/issues/issues.js';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const INDEX = { since: null, until: '2026-11-20T11:59:59.000Z', missing: [] };
const CALLBACKS = {
  hourSince: NOW - 3_600_000,
  daySince: NOW - 86_400_000,
  accepted: new Map(),
  refused: [],
  missed: { jobs: 0, lastHour: 0, ofJobs: 0, lastJob: null },
};
const status = { state: 'ready', error: null, rows: 0, refreshedAt: INDEX.until, changedAt: null };

/** Sources with a store and an index that answer all but the figures of the last day. */
const SOURCES = {
  view: {
    status: () => status,
    extent: () => INDEX,
    failingNow: async () => ({ counts: {}, since: null, nextEnd: null, index: INDEX }),
    callbacks: async () => CALLBACKS,
    bodyFigures: async () => ({ waiting: 0, waitingBytes: 0, released: 0, settled: 0 }),
  },
  summarise: () => new Promise(() => undefined),
  senderRefusals: async () => [],
  retained: { expiredBefore: async () => () => Number.NEGATIVE_INFINITY },
  lastReconcile: async () => null,
  lastVerify: async () => null,
  subscribers: async () => [],
  replicaIssues: async () => [],
  sources: [
    { source: 's', credentials: [{ name: 'main', headers: ['X-T'], notBefore: null, expires: null }] },
  ],
  service: { configured: false, interval: null },
  retention: 7 * 86_400_000,
} as unknown as FactSources<{ readonly issues: readonly Issue[] }>;

describe('the facts behind the verdict', () => {
  it('do not say that a credential or region was not used while the figures of the last day do not come', async () => {
    const process = { receiver: null, store: { writable: true, reason: null }, ownIssues: [] };
    const { facts, last24h } = await readFacts(SOURCES, process as never, NOW, null, 10);
    expect(last24h).toBeNull();
    const why = { reason: 'store or index did not answer within 10 ms', since: null };
    expect(facts.unknown).toEqual({ last24h: why, regions: why, credentials: why });
    expect(facts.credentials).toMatchObject([{ state: 'unknown', lastUsedAt: null }]);
    expect(facts.failing).toEqual({});
  });
});
