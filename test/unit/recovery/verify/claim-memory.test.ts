import { describe, expect, it } from '@jest/globals';
import { createClaimMemory } from '../../../../src/recovery/verify/claim-memory.js';

describe('the memory of claims', () => {
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
