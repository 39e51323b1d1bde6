import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { createReplayStore } from '../../../../../src/operations/actions/replay/replay-store.js';
import { createReplays, type ReplaysOptions } from '../../../../../src/operations/actions/replay/replays.js';
import { NEW_REPLAY } from '../../../../support/new-replay.js';
import { createMemoryStore } from '../../../../support/store/memory-store.js';
import { until } from '../../../../support/until.js';

it.each(['{', '[]', '{"replayId":7,"state":"running","selector":null}'])(
  'a damaged replay is passed over: %s',
  async (text) => {
    const id = '01K0000000000000000000000A';
    const store = createMemoryStore();
    store.put(`replays/${id}.json`, text);
    expect(await createReplayStore(store).read(id)).toBeNull();
  },
);

it.each(['../x', 'x'.repeat(300), 'a\0', ''])(
  'no replay has the id %j, and no store is asked for it',
  async (id) => {
    const store = createMemoryStore();
    expect(await createReplayStore(store).read(id)).toBeNull();
    expect(store.calls).toEqual([]);
  },
);

it('lists the failures that a state counts, whichever run wrote them', async () => {
  const replays = createReplayStore(createMemoryStore());
  const { replayId } = NEW_REPLAY;
  const entries = (from: number, to: number, reason: string) =>
    Array.from({ length: to - from }, (_, n) => ({
      ...{ item: `i${from + n}`, jobId: 'j', outcome: 'failed', reason },
    }));
  await replays.create(NEW_REPLAY, []);
  await replays.addFailures(replayId, 0, entries(0, 700, 'first'));
  // The run died before it saved a state that counts those from 600 on.
  await replays.addFailures(replayId, 600, entries(600, 1100, 'again'));
  const all = [...entries(0, 600, 'first'), ...entries(600, 1100, 'again')];
  expect(await replays.failures(replayId, 0, 1100)).toEqual(all);
  expect(await replays.failures(replayId, 450, 1050)).toEqual(all.slice(450, 1050));
  expect(await replays.failures(replayId, 0, 0)).toEqual([]);
});

it('replays of other replicas are looked for once a lease, in one listing', async () => {
  const store = createMemoryStore();
  const replays = createReplayStore(store);
  const looks = () => store.calls.filter(({ operation }) => operation === 'list').length;
  // Looking for replays takes nothing else.
  const options = (lease: number) => ({ replays, owner: 'r', lease }) as unknown as ReplaysOptions;
  const patient = createReplays(options(60_000));
  patient.start();
  await until(() => looks() === 1);
  await sleep(100);
  expect(looks()).toBe(1);
  await patient.stop();
  const hasty = createReplays(options(10));
  hasty.start();
  await until(() => looks() > 3);
  await hasty.stop();
});
