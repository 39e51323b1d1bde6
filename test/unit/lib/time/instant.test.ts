import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readInstant } from '../../../../src/lib/time/instant.js';

describe('an instant', () => {
  it.each<[string, number]>([
    ['2026-01-31T00:00:00Z', Date.UTC(2026, 0, 31)],
    ['2026-01-31T12:30Z', Date.UTC(2026, 0, 31, 12, 30)],
    ['2026-01-31T01:00:00.125+01:00', Date.UTC(2026, 0, 31, 0, 0, 0, 125)],
    ['2026-01-31T23:59:59.999999999-00:30', Date.UTC(2026, 1, 1, 0, 29, 59, 999)],
    ['2028-02-29T00:00:00Z', Date.UTC(2028, 1, 29)],
    ['2026-01-31', Date.UTC(2026, 0, 31)],
    ['1970-01-01', 0],
    ['0000-01-01', Date.parse('0000-01-01')],
  ])('%s is read', (text, expected) => {
    expect(readInstant(text)).toBe(expected);
  });

  it('is whatever Date prints', () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (date) => {
        expect(readInstant(date.toISOString())).toBe(date.getTime());
      }),
    );
  });

  it.each([
    ...['', '1', '-1', '2026', '2026-01', 'foo 1', 'yesterday', 'Sat, 31 Jan 2026 00:00:00 GMT'],
    // No zone.
    ...['2026-11-21T14:52:06.472', '2026-11-21T14:52'],
    // No such day, hour, minute, second or zone.
    ...['2026-02-29', '2026-02-31T00:00:00Z', '2026-04-31', '2026-13-01', '2026-00-01', '2026-01-00'],
    ...['2026-01-31T24:00:00Z', '2026-01-31T12:60:00Z', '2026-01-31T12:00:60Z', '2026-01-31T12:00:00+24:00'],
    ...['2026-01-31T12:00:00 01:00', '2026-01-31 12:00:00Z', ' 2026-01-31', '2026-01-31T', '2026-01-31Z'],
    ...['2026-01-31T00:00:00Z ', '2026-01-31T12Z', '-000000-01-01', '+275760-09-13T00:00:00.001Z'],
  ])('%j is not an instant', (text) => {
    expect(readInstant(text)).toBeNull();
  });
});
