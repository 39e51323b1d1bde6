import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { encodeTime } from 'ulid';
import { withItem } from '../../../../../src/operations/actions/replay/replay-state.js';
import { createReplayStore } from '../../../../../src/operations/actions/replay/replay-store.js';
import { createReplays, type ReplaysOptions } from '../../../../../src/operations/actions/replay/replays.js';
import { StoreError } from '../../../../../src/store/object-store.js';
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

it('keeps the first 100 failures in the state, and counts them all', () => {
  const failed = { outcome: 'failed', failed: true, reason: 'no', jobId: 'j' };
  let state = NEW_REPLAY;
  for (let n = 0; n < 150; n += 1) state = withItem(state, `i${n}`, failed);
  expect(state).toMatchObject({ failed: 150, outcomes: { failed: 150 } });
  expect(state.failures).toHaveLength(100);
  expect(state.failures[99]).toEqual({ item: 'i99', jobId: 'j', outcome: 'failed', reason: 'no' });
});

it('a replay that is not on record is neither started nor cancelled', async () => {
  const replays = createReplayStore(createMemoryStore());
  const { replayId } = NEW_REPLAY;
  const ledger = { append: async () => Promise.reject(new StoreError('create', 'the ledger is denied')) };
  const view = { lines: async function* () {}, requireReach: async () => {}, refresh: async () => {} };
  const bodies = async () => ({ bodies: [], nextCursor: null, unread: [] });
  const options = { replays, owner: 'r', ledger, view: { ...view, bodies } };
  const acting = createReplays(options as unknown as ReplaysOptions);
  const audit = { actor: 'tester', reason: null };
  await expect(acting.create({ kind: 'release' }, audit)).rejects.toThrow('denied');
  expect(await acting.view(replayId)).toBeNull();
  await replays.create(NEW_REPLAY, []);
  await expect(acting.cancel(replayId, audit)).rejects.toThrow('denied');
  expect(await acting.view(replayId)).toMatchObject({ state: 'running' });
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

it('replays that have ended are not read again, and the newest of many are read first', async () => {
  const idOf = (hoursAgo: number) => `${encodeTime(Date.now() - hoursAgo * 3_600_000, 10)}0000000000000000`;
  const ids = Array.from({ length: 500 }, (_, n) => idOf(n));
  const third = ids[3];
  const finished = new Date().toISOString();
  let beats = 0;
  const put = (replayId = '', state = {}) =>
    store.put(`replays/${replayId}.json`, JSON.stringify({ ...NEW_REPLAY, replayId, ...state }));
  const reads: string[] = [];
  // Nobody goes on with one whose heartbeat changes.
  const store = createMemoryStore((operation, key) => {
    if (operation === 'read') reads.push(key);
    if (key === `replays/${third}.json`) put(third, { heartbeatAt: String(++beats) });
  });
  for (const id of ids) put(id, { finishedAt: finished });
  put(third);
  const options = { replays: createReplayStore(store), owner: 'r', lease: 10 };
  const looking = createReplays(options as unknown as ReplaysOptions);
  looking.start();
  await until(() => beats > 1);
  expect(reads.slice(0, 4)).toEqual(ids.slice(0, 4).map((id) => `replays/${id}.json`));
  expect(new Set(reads).size).toBe(500);
  const last = beats;
  reads.length = 0;
  await until(() => beats > last + 1);
  expect(new Set(reads)).toEqual(new Set([`replays/${third}.json`]));
  await looking.stop();
});
