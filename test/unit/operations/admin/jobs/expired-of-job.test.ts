import { describe, expect, it } from '@jest/globals';
import { expiredOfJob } from '../../../../../src/operations/admin/jobs/expired-of-job.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';

const DAY = 86_400_000;
const NOW = Date.parse('2026-06-01T00:00:00.000Z');
const at = (days: number) => new Date(NOW - days * DAY).toISOString();
/** Media 30 days, nothing else. */
const expiredBefore = (kind: string) => (kind === 'data' ? NOW - 30 * DAY : Number.NEGATIVE_INFINITY);

const stored = (days: number, key: string, kind = 'data', more: object = {}) =>
  ledgerLine({
    receivedAt: at(days),
    items: [{ kind, key, size: 5, sha256: '', outcome: 'created' } as never],
    ...more,
  });
const swept = (days: number, kind: string, objects = 1) =>
  ledgerLine({
    ...{ receivedAt: at(days), origin: 'retention', outcome: 'expired', items: [], bytes: 7 },
    expired: { kind, objects } as never,
  });
const find = (lines: ReturnType<typeof ledgerLine>[], present: readonly string[] = []) =>
  expiredOfJob(lines, new Set(present), expiredBefore, NOW);

describe('what of a job expired', () => {
  it('is known by the periods where the rules of a bucket end objects', () => {
    const lines = [
      stored(45, 'a'),
      stored(44, 'a'),
      stored(40, 'conflicts/a'),
      stored(45, 't', 'transcript.txt'),
    ];
    expect(find(lines)).toEqual([{ kind: 'data', objects: 2, bytes: 10, expiredAt: at(10) }]);
  });

  it('is neither what is there, nor what is young, nor what somebody read', () => {
    const read = stored(45, 'c', 'data', { origin: 'admin', outcome: 'read' });
    expect(find([stored(45, 'a'), stored(29, 'b'), read], ['a'])).toEqual([]);
  });

  it('is told once where the sweep has told it', () => {
    const lines = [stored(45, 'a'), swept(14, 'data', 2), stored(10, 'a'), swept(3, 'quarantine')];
    expect(find(lines)).toEqual([
      { kind: 'data', objects: 2, bytes: 7, expiredAt: at(14) },
      { kind: 'quarantine', objects: 1, bytes: 7, expiredAt: at(3) },
    ]);
  });

  it('has the quarantined bodies that are old and not there any more', () => {
    const quarantined = (days: number, deliveryId: string) =>
      ledgerLine({ receivedAt: at(days), deliveryId, outcome: 'quarantined', items: [], bytes: 3 });
    const lines = [quarantined(99, 'A'), quarantined(98, 'B'), quarantined(1, 'C')];
    const limit = (kind: string) => (kind === 'quarantine' ? NOW - 90 * DAY : Number.NEGATIVE_INFINITY);
    expect(expiredOfJob(lines, new Set(['quarantine/B/body']), limit, NOW)).toEqual([
      { kind: 'quarantine', objects: 1, bytes: 3, expiredAt: at(9) },
    ]);
  });

  it('leaves out the records of the receiver and lines without a kind', () => {
    const broken = ledgerLine({ receivedAt: at(1), origin: 'retention', outcome: 'expired', items: [] });
    expect(find([swept(5, 'reports'), broken])).toEqual([]);
  });
});
