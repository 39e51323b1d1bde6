import { afterEach, describe, expect, it } from '@jest/globals';
import { pageModule } from '../../../../../support/dashboard/page-module.js';

const { bytes, clock, instantOfLocal, localOfInstant } = pageModule('lib/text/format');
const { chooseUtc } = pageModule('lib/text/time-zone');

afterEach(() => chooseUtc(false));

describe('times on the page', () => {
  it('in UTC are those of the instant, with the day where it is another one', () => {
    chooseUtc(true);
    const now = Date.parse('2026-11-20T00:30:00Z');
    expect(clock('2026-11-20T00:10:00Z', now)).toBe('00:10:00');
    expect(clock('2026-11-19T23:10:00Z', now)).toBe('19 Nov 23:10:00');
    expect(clock('2025-11-19T23:10:00Z', now)).toBe('19 Nov 2025 23:10:00');
    expect(clock('no time', now)).toBe('no time');
  });

  it.each([true, false])('go into a field and come back the same (UTC: %s)', (utc) => {
    chooseUtc(utc);
    for (const instant of ['2026-01-02T03:04:05.000Z', '2026-07-02T23:04:05.000Z'])
      expect(instantOfLocal(localOfInstant(instant))).toBe(instant);
    expect(instantOfLocal('')).toBeUndefined();
    expect(localOfInstant('')).toBe('');
  });
});

describe('sizes', () => {
  it('have a decimal only where it says something', () => {
    expect([0, 1024, 1536, 64 * 2 ** 20].map(bytes)).toEqual(['0 B', '1 KiB', '1.5 KiB', '64 MiB']);
  });
});
