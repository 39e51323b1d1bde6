import type { ReplayState } from '../../src/operations/actions/replay/replay-state.js';

/** A replay of ten jobs that has just been ordered. */
export const NEW_REPLAY: ReplayState = {
  v: 1,
  replayId: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  createdAt: '2026-03-04T12:00:00.000Z',
  actor: 'a',
  reason: null,
  selector: { kind: 'refetch' },
  total: 10,
  bytes: 0,
  done: 0,
  failed: 0,
  outcomes: {},
  failures: [],
  finishedAt: null,
  owner: 'r',
  heartbeatAt: '2026-03-04T12:00:00.000Z',
};
