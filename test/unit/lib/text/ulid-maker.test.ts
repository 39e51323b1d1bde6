import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeTime, isValid } from 'ulid';
import { ulidMaker } from '../../../../src/lib/text/ulid-maker.js';

describe('ulidMaker', () => {
  it('makes valid ids of their time, which increase with every call', () => {
    const steps = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 47 }), steps, (start, delays) => {
        const next = ulidMaker();
        let now = start;
        let last = '';
        for (const delay of delays) {
          now += delay;
          const id = next(now);
          expect(isValid(id)).toBe(true);
          expect(decodeTime(id)).toBe(now);
          expect(id > last).toBe(true);
          last = id;
        }
      }),
    );
  });

  it('goes on from the last id when the clock is set back', () => {
    const next = ulidMaker();
    const first = next(5000);
    const second = next(1000);
    expect(second > first).toBe(true);
    expect(decodeTime(second)).toBe(5000);
  });

  it('carries over when many ids have the same time', () => {
    const next = ulidMaker();
    const ids = Array.from({ length: 5000 }, () => next(7));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('differs from those of another maker', () => {
    expect(new Set(Array.from({ length: 1000 }, () => ulidMaker()(7).slice(10, -4))).size).toBe(1000);
  });
});
