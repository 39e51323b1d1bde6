import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { encodeTime } from 'ulid';
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

it('pages of many replays share a listing, until a replay is created here', async () => {
  const store = createMemoryStore();
  const idOf = (n: number) => `${encodeTime(Date.now() - n * 60_000, 10)}0000000000000000`;
  for (let n = 1; n <= 1000; n += 1) store.put(`replays/${idOf(n)}.json`, '');
  const replays = createReplayStore(store);
  const page = async () => {
    store.calls.length = 0;
    const ids: string[] = [];
    for await (const id of replays.newest({ maxAge: 3_600_000 })) if (ids.push(id) === 64) break;
    return ids;
  };
  const before = await page();
  expect(before).toHaveLength(64);
  expect(await page()).toEqual(before);
  expect(store.calls).toEqual([]);
  const replayId = idOf(0);
  await replays.create({ ...NEW_REPLAY, replayId }, []);
  expect(await page()).toEqual([replayId, ...before.slice(0, -1)]);
});

it('replays that have ended are neither read nor listed again; those behind one that runs are listed', async () => {
  const idOf = (hoursAgo: number) => `${encodeTime(Date.now() - hoursAgo * 3_600_000, 10)}0000000000000000`;
  const [first, second, running, last, recent] = [9, 8, 7, 6, 0].map(idOf);
  const finished = new Date().toISOString();
  let beats = 0;
  let finishedAt: string | null = null;
  const put = (replayId = '', state = {}) =>
    store.put(`replays/${replayId}.json`, JSON.stringify({ ...NEW_REPLAY, replayId, ...state }));
  // Nobody goes on with one whose heartbeat changes.
  const store = createMemoryStore((operation, key) => {
    if (operation === 'read' && key === `replays/${running}.json`)
      put(running, { finishedAt, heartbeatAt: String(++beats) });
  });
  for (const id of [first, second, last, recent]) put(id, { finishedAt: finished });
  put(running);
  const starts: string[] = [];
  const keys: typeof store.keys = (prefix, range) => {
    starts.push(range?.startAfter ?? '');
    return store.keys(prefix, range);
  };
  const options = { replays: createReplayStore({ ...store, keys }), owner: 'r', lease: 10 };
  const looking = createReplays(options as unknown as ReplaysOptions);
  /** Keys that two whole looks read. */
  const twoLooks = async () => {
    starts.length = 0;
    await until(() => starts.length > 1);
    store.calls.length = 0;
    await until(() => starts.length > 3);
    return new Set(store.calls.flatMap(({ operation, key }) => (operation === 'read' ? [key] : [])));
  };
  looking.start();
  expect(await twoLooks()).toEqual(new Set([`replays/${running}.json`]));
  expect(starts.at(-1)).toBe(`replays/${second}.json`);
  finishedAt = finished;
  await twoLooks();
  expect(await twoLooks()).toEqual(new Set());
  // Another replica, whose clock is behind, may still create one before the newest.
  expect(starts.at(-1)).toBe(`replays/${last}.json`);
  await looking.stop();
});
