import { describe, expect, it } from '@jest/globals';
import { stepsAfterReplay } from '../../../src/domain/next-steps.js';

describe('what is left to do after a replay', () => {
  it('is to import or to acknowledge what the service does not have, and to fetch or dismiss what stays undecodable', () => {
    const actions = (outcomes: Record<string, number>) =>
      stepsAfterReplay(outcomes).map(({ action }) => action);
    expect(actions({ recovered: 1, failed: 1 })).toEqual([]);
    expect(actions({ unrecoverable: 1 })).toEqual(['import']);
    expect(actions({ undecodable: 1 })).toEqual(['refetch', 'dismiss']);
  });
});
