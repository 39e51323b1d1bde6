import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createClaimMemory } from '../../../../src/recovery/verify/claim-memory.js';

describe('the memory of claims', () => {
  it('says what a map of all claims says, as long as it has room', () => {
    const claims = fc.array(fc.tuple(fc.nat(400), fc.nat(2)), { maxLength: 4000, size: 'max' });
    fc.assert(
      fc.property(claims, (all) => {
        const memory = createClaimMemory();
        const known = new Map<string, string>();
        const expected = all.map(([key, content]) => {
          const before = known.get(`${key}`);
          if (before === undefined) known.set(`${key}`, `${content}`);
          return before === undefined ? 'new' : before === `${content}` ? 'repeated' : 'different';
        });
        expect(all.map(([key, content]) => memory.add(`${key}`, `${content}`))).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it('remembers the last keys of any number', () => {
    const memory = createClaimMemory(1000);
    for (let n = 0; n < 2000; n += 1) memory.add(`${n}`, '');
    expect(memory.add('0', '')).toBe('repeated');
    const younger = Array.from({ length: 8000 }, (_, n) => 2000 + n);
    const found = younger.map((n) => [memory.add(`${n}`, ''), memory.add(`${n - 1000}`, '')]);
    expect(found).toEqual(younger.map(() => ['new', 'repeated']));
    expect(memory.add('0', '')).toBe('new');
  });
});
