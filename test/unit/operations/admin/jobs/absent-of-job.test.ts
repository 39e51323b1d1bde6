import { beforeEach, describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../../../src/domain/delivery.js';
import { absentOfJob } from '../../../../../src/operations/admin/jobs/absent-of-job.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';
import { createMemoryStore, type MemoryStore } from '../../../../support/store/memory-store.js';

const DAY = 86_400_000;
const NOW = Date.parse('2026-06-01T00:00:00.000Z');
const at = (days: number) => new Date(NOW - days * DAY).toISOString();
/** Media 30 days, quarantine 90, nothing else. */
const PERIODS: Readonly<Record<string, number>> = { data: 30, quarantine: 90 };
const retained = {
  expiredBefore: async () => (kind: string) => NOW - (PERIODS[kind] ?? Number.POSITIVE_INFINITY) * DAY,
};

const stored = (days: number, key: string, kind = 'data', outcome = 'created', more: object = {}) =>
  ledgerLine({
    receivedAt: at(days),
    ...more,
    items: [{ kind, key, size: 5, sha256: 'ab', outcome } as never],
  });
const swept = (days: number, kind: string, objects = 1) =>
  ledgerLine({
    receivedAt: at(days),
    origin: 'retention',
    outcome: 'expired',
    items: [],
    bytes: 7,
    expired: { kind, objects } as never,
  });

let store: MemoryStore;
beforeEach(() => {
  store = createMemoryStore();
});

const find = (lines: LedgerLine[], present: readonly string[] = []) =>
  absentOfJob({ store, retained, clock: () => NOW }, lines, new Set(present));

describe('what of a job expired', () => {
  it('is known by the periods where the rules of a bucket end objects', async () => {
    const lines = [
      stored(45, 'a'),
      stored(44, 'a'),
      stored(40, 'conflicts/a'),
      stored(45, 't', 'transcript.txt'),
    ];
    const { expired, lost } = await find(lines);
    expect(expired).toEqual([{ kind: 'data', objects: 2, bytes: 10, expiredAt: at(10) }]);
    expect(lost).toMatchObject([{ key: 't' }]);
  });

  it('is neither what is there, nor what is young, nor what somebody read', async () => {
    const read = stored(45, 'c', 'data', 'read', { origin: 'admin', outcome: 'read' });
    store.put('b', '');
    expect(await find([stored(45, 'a'), stored(29, 'b'), read], ['a'])).toEqual({ expired: [], lost: [] });
  });

  it('is told once where the sweep has told it', async () => {
    const lines = [stored(45, 'a'), stored(20, 'b'), swept(14, 'data', 2), swept(3, 'quarantine')];
    expect(await find(lines)).toEqual({
      expired: [
        { kind: 'data', objects: 2, bytes: 7, expiredAt: at(14) },
        { kind: 'quarantine', objects: 1, bytes: 7, expiredAt: at(3) },
      ],
      lost: [],
    });
  });

  it('has the quarantined bodies that are old and not there any more', async () => {
    const quarantined = (days: number, deliveryId: string) =>
      ledgerLine({ receivedAt: at(days), deliveryId, outcome: 'quarantined', items: [], bytes: 3 });
    store.put('quarantine/B/body', '');
    const lines = [quarantined(99, 'A'), quarantined(98, 'B'), quarantined(1, 'C')];
    const expired = [{ kind: 'quarantine', objects: 1, bytes: 3, expiredAt: at(9) }];
    expect(await find(lines)).toEqual({ expired, lost: [] });
  });

  it('leaves out the records of the receiver and lines without a kind', async () => {
    const broken = ledgerLine({ receivedAt: at(1), origin: 'retention', outcome: 'expired', items: [] });
    expect((await find([swept(5, 'reports'), broken])).expired).toEqual([]);
  });
});

describe('what a job lost', () => {
  it('is named with when it was stored, also after a sweep of what was there before', async () => {
    const lines = [stored(20, 'a'), swept(14, 'data'), stored(10, 'a'), stored(5, 'a', 'data', 'identical')];
    const lost = { key: 'a', kind: 'data', size: 5, sha256: 'ab', storedAt: at(10) };
    expect((await find(lines)).lost).toEqual([lost]);
  });

  it('is confirmed by the store: what a listing of the job did not see is not called lost', async () => {
    store.put('a', '');
    expect((await find([stored(10, 'a'), stored(10, '../a')])).lost).toEqual([]);
  });
});
