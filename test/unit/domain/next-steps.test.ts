import { describe, expect, it } from '@jest/globals';
import { stepsAfterReplay, worthRetrying } from '../../../src/domain/next-steps.js';

describe('what is left to do after a replay', () => {
  it('is no further replay for what would end in the same way', () => {
    expect(worthRetrying(6, { recovered: 2, unrecoverable: 6 })).toBe(0);
    expect(worthRetrying(6, { undecodable: 4, unrecoverable: 1, failed: 1 })).toBe(1);
  });

  it('is to import or to acknowledge what the service does not have, and to fetch or dismiss what stays undecodable', () => {
    const actions = (outcomes: Record<string, number>) =>
      stepsAfterReplay(outcomes).map(({ action }) => action);
    expect(actions({ recovered: 1, failed: 1 })).toEqual([]);
    expect(actions({ unrecoverable: 1 })).toEqual(['import']);
    expect(actions({ undecodable: 1 })).toEqual(['refetch', 'dismiss']);
  });
});
