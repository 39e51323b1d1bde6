import { describe, expect, it } from '@jest/globals';
import { pageModule } from '../../../../../support/dashboard/page-module.js';

const { bytes, clock, instantOfLocal, localOfInstant } = pageModule('lib/text/format');

describe('times on the page', () => {
  it('have the day where it is another one', () => {
    const at = (...local: [number, number, number, number, number]) => new Date(...local).toISOString();
    const now = new Date(2026, 10, 20, 0, 30).getTime();
    expect(clock(at(2026, 10, 20, 0, 10), now)).toBe('00:10:00');
    expect(clock(at(2026, 10, 19, 23, 10), now)).toBe('19 Nov 23:10:00');
    expect(clock(at(2025, 10, 19, 23, 10), now)).toBe('19 Nov 2025 23:10:00');
    expect(clock('no time', now)).toBe('no time');
  });

  it('go into a field and come back the same', () => {
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
