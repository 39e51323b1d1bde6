import { describe, expect, it } from '@jest/globals';
import { parseRetryAfter } from '../../../../src/lib/time/retry.js';

const NOW = Date.parse('2026-11-22T04:00:00Z');
const DAY = 86_400_000;

describe('Retry-After', () => {
  it.each([
    ['seconds', '120', 120_000],
    ['no seconds', '0', 0],
    ['fractions of a second, as some servers send them', '0.25', 250],
    ['blanks around', ' 7 ', 7_000],
    ['a date', 'Sun, 22 Nov 2026 04:02:00 GMT', 120_000],
    ['a date of RFC 850', 'Sunday, 22-Nov-26 04:02:00 GMT', 120_000],
    ['a date of asctime, which means UTC', 'Sun Nov 22 04:02:00 2026', 120_000],
    ['a date that has passed', 'Sun, 22 Nov 2026 03:59:00 GMT', 0],
  ])('is read from %s', (_form, value, expected) => {
    expect(parseRetryAfter(value, NOW)).toBe(expected);
  });

  it.each([
    '',
    'soon',
    '-5',
    '1e3',
    '0x10',
    'Infinity',
    'in 5 minutes',
    '2026-11-22T04:02:00Z',
    'Sun, 99 Nov 2026 04:02:00 GMT',
  ])('is null for %j', (value) => {
    expect(parseRetryAfter(value, NOW)).toBeNull();
  });

  it('is null without the header, and the first of several headers', () => {
    expect(parseRetryAfter(undefined, NOW)).toBeNull();
    expect(parseRetryAfter([], NOW)).toBeNull();
    expect(parseRetryAfter(['3', '5'], NOW)).toBe(3_000);
  });

  it.each(['86401', '99999999999999999999', '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'is a day at most: %s',
    (value) => {
      expect(parseRetryAfter(value, NOW)).toBe(DAY);
    },
  );
});
