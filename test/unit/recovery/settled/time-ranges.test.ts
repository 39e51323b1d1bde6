import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  daysOf,
  splitByHour,
  subtractRanges,
  type TimeRange,
} from '../../../../src/recovery/settled/time-ranges.js';

const HOUR = 3_600_000;

const range = fc.tuple(fc.nat(60), fc.nat(20)).map(([from, length]) => ({ from, to: from + length }));

function times(ranges: readonly TimeRange[]): number[] {
  return ranges.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, n) => to - n));
}

describe('ranges of time', () => {
  it('leave what others do not hold, newest first', () => {
    fc.assert(
      fc.property(range, fc.array(range, { maxLength: 6 }), (whole, others) => {
        const held = new Set(times(others));
        expect(times(subtractRanges(whole, others))).toEqual(
          times([whole]).filter((time) => !held.has(time)),
        );
      }),
    );
  });

  it('are cut at full hours', () => {
    expect(splitByHour({ from: HOUR - 1, to: 2 * HOUR })).toEqual([
      { from: 2 * HOUR, to: 2 * HOUR },
      { from: HOUR, to: 2 * HOUR - 1 },
      { from: HOUR - 1, to: HOUR - 1 },
    ]);
  });

  it('touch days of UTC', () => {
    const from = Date.parse('2026-03-04T23:59:59.999Z');
    expect(daysOf({ from, to: from })).toEqual(['2026-03-04']);
    expect(daysOf({ from, to: from + 24 * HOUR + 1 })).toEqual(['2026-03-04', '2026-03-05', '2026-03-06']);
  });
});
