import { describe, expect, it } from '@jest/globals';
import { UsageError } from '../../../../../src/cli/shared/exit-codes.js';
import { readTime } from '../../../../../src/cli/shared/options/read-time.js';

const since = readTime('--since');

describe('an option that takes a time', () => {
  it('reads a duration as a time before now', () => {
    const asked = Date.now();
    const time = since('48h').getTime();
    expect(time).toBeGreaterThanOrEqual(asked - 48 * 3_600_000);
    expect(time).toBeLessThanOrEqual(Date.now() - 48 * 3_600_000);
  });

  it('takes a time with its zone, and a date as midnight UTC', () => {
    expect(since('2026-01-31T01:00:00+01:00')).toEqual(new Date('2026-01-31T00:00:00Z'));
    expect(since('2026-01-31')).toEqual(new Date('2026-01-31T00:00:00Z'));
  });

  it.each(['', '2026', '48', 'foo 1', '2026-02-31', '2026-01-31T00:00:00', '999999999999d'])(
    'refuses %j as wrong usage',
    (text) => {
      expect(() => since(text)).toThrow(UsageError);
    },
  );
});
