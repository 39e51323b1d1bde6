import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ShortLivedSet } from '../../../../src/lib/memory/fair-queue.js';

describe('a set of short-lived objects', () => {
  it('holds what a Set holds, in whatever order members come and go', () => {
    const steps = fc.array(fc.record({ adds: fc.boolean(), index: fc.nat({ max: 9 }) }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (taken) => {
        const objects = Array.from({ length: 10 }, () => ({ setIndex: -1 }));
        const set = new ShortLivedSet();
        const oracle = new Set();
        for (const { adds, index } of taken) {
          const member = objects[index] as { setIndex: number };
          if (adds) set.add(member);
          else set.delete(member);
          if (adds) oracle.add(member);
          else oracle.delete(member);
          const members = set.members();
          expect(members).toHaveLength(oracle.size);
          expect(new Set(members)).toEqual(oracle);
        }
      }),
    );
  });

  it('allows deletion of members during iteration over a copy', () => {
    const set = new ShortLivedSet();
    for (let n = 0; n < 5; n++) set.add({ setIndex: -1 });
    for (const member of set.members()) set.delete(member);
    expect(set.members()).toEqual([]);
  });
});
