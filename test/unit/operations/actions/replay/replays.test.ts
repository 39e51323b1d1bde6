import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createReplayStore } from '../../../../../src/operations/actions/replay/replay-store.js';
import { createReplays, type ReplaysOptions } from '../../../../../src/operations/actions/replay/replays.js';
import { NEW_REPLAY } from '../../../../support/new-replay.js';
import { createMemoryStore } from '../../../../support/store/memory-store.js';

it.each(['{', '[]', '{"replayId":7,"state":"running","selector":null}'])(
  'a damaged replay is passed over: %s',
  async (text) => {
    const id = '01K0000000000000000000000A';
    const store = createMemoryStore();
    store.put(`replays/${id}.json`, text);
    expect(await createReplayStore(store).read(id)).toBeNull();
  },
);

describe('replays of other replicas', () => {
  beforeEach(() => void jest.useFakeTimers({ now: Date.parse('2016-08-01T00:00:00Z') }));
  afterEach(() => void jest.useRealTimers());

  it('are looked for once a lease, and twice while one is unfinished', async () => {
    const store = createMemoryStore();
    const replays = createReplayStore(store);
    // Looking for replays takes nothing else.
    const watching = createReplays({ replays, owner: 'r', lease: 30_000 } as unknown as ReplaysOptions);
    const looks = () => store.calls.filter(({ operation }) => operation === 'list').length;
    watching.start();
    await jest.advanceTimersByTimeAsync(0);
    expect(looks()).toBe(1);
    await jest.advanceTimersByTimeAsync(29_999);
    expect(looks()).toBe(1);
    await replays.create({ ...NEW_REPLAY, owner: 'other' }, []);
    await jest.advanceTimersByTimeAsync(1);
    expect(looks()).toBe(2);
    await jest.advanceTimersByTimeAsync(15_000);
    expect(looks()).toBe(3);
    await watching.stop();
  });
});
