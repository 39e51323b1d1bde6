import { describe, expect, it } from '@jest/globals';
import { type ReplayState, viewOf } from '../../../../../src/operations/actions/replay/replay-state.js';
import { NEW_REPLAY } from '../../../../support/new-replay.js';

describe('the progress of a replay', () => {
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
