import { expect, it } from '@jest/globals';
import { createReplayProgress } from '../../../../../src/operations/actions/replay/replay-progress.js';
import { createReplayStore } from '../../../../../src/operations/actions/replay/replay-store.js';
import { NEW_REPLAY } from '../../../../support/new-replay.js';
import { createMemoryStore } from '../../../../support/store/memory-store.js';

it('keeps a failure that is counted while earlier ones are written', async () => {
  const replays = createReplayStore(createMemoryStore());
  await replays.create(NEW_REPLAY, ['a', 'b']);
  const progress = createReplayProgress(replays, NEW_REPLAY, ['a', 'b'], () => {});
  const failed = (index: number) =>
    progress.count({ index, result: { outcome: 'failed', failed: true, reason: 'no', jobId: 'j' } });
  failed(0);
  const saved = progress.save({});
  failed(1);
  await saved;
  await progress.save({});
  expect((await replays.failures(NEW_REPLAY.replayId)).map(({ item }) => item)).toEqual(['a', 'b']);
  expect((await replays.read(NEW_REPLAY.replayId))?.state.failed).toBe(2);
});

it('lists no failure of a run that died before it saved its state', async () => {
  const replays = createReplayStore(createMemoryStore());
  const { replayId } = NEW_REPLAY;
  await replays.create(NEW_REPLAY, ['a']);
  const entry = { item: 'a', jobId: 'j', outcome: 'failed', reason: 'first' };
  await replays.addFailures(replayId, 1, 1, [entry]);
  expect(await replays.failures(replayId)).toEqual([]);
  const next = createReplayProgress(replays, { ...NEW_REPLAY, claim: 2 }, ['a'], () => {});
  next.count({ index: 0, result: { outcome: 'failed', failed: true, reason: 'again', jobId: 'j' } });
  await next.save({});
  expect(await replays.failures(replayId)).toEqual([{ ...entry, reason: 'again' }]);
});
