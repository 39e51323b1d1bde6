import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type ReplayState,
  viewOf,
  withItem,
} from '../../../../../src/operations/actions/replay/replay-state.js';
import { NEW_REPLAY } from '../../../../support/new-replay.js';

describe('the progress of a replay', () => {
  it('knows exactly which items are left, in whatever order they end', () => {
    const order = fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    fc.assert(
      fc.property(order, (worked) => {
        const state = worked.reduce(
          (before, index) => withItem(before, index, 'matched', index % 3 === 0),
          NEW_REPLAY,
        );
        const left = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].filter(
          (n) => n >= state.next && !state.ahead.includes(n),
        );
        expect(left).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].filter((n) => !worked.includes(n)));
        expect(state.done + state.failed).toBe(worked.length);
        expect(state.failed).toBe(worked.filter((n) => n % 3 === 0).length);
        expect(state.outcomes.matched ?? 0).toBe(worked.length);
      }),
    );
  });

  it.each<[Partial<ReplayState>, boolean, string]>([
    [{}, false, 'running'],
    [{ heartbeatAt: null }, false, 'interrupted'],
    [{ heartbeatAt: null }, true, 'cancelled'],
    [{ finishedAt: '2026-03-04T12:00:00.000Z' }, false, 'done'],
    [{ finishedAt: '2026-03-04T12:00:00.000Z' }, true, 'cancelled'],
  ])('has one state name: %j, cancelled %s', (part, cancelled, expected) => {
    const state = { ...NEW_REPLAY, ...part };
    expect(viewOf(state, { cancelled, abandoned: state.heartbeatAt === null }).state).toBe(expected);
  });
});
