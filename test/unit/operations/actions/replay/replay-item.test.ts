import { expect, it } from '@jest/globals';
import { Problem } from '../../../../../src/domain/problem.js';
import { formatNotifyItem } from '../../../../../src/operations/actions/replay/notify-item.js';
import { type ReplayRunParts, runReplay } from '../../../../../src/operations/actions/replay/replay.js';
import {
  processItem,
  type ReplayItemParts,
} from '../../../../../src/operations/actions/replay/replay-item.js';
import { createReplayStore } from '../../../../../src/operations/actions/replay/replay-store.js';
import { StoreError } from '../../../../../src/store/object-store.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';
import { NEW_REPLAY } from '../../../../support/new-replay.js';
import { quarantinedRequest } from '../../../../support/quarantined-request.js';
import { createMemoryStore } from '../../../../support/store/memory-store.js';

const BODY = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

async function fails(): Promise<never> {
  throw new StoreError('read', 'the store is away');
}

/** The store answers what names the job, and nothing else. */
const PARTS = {
  release: {
    quarantine: { request: async () => quarantinedRequest({ deliveryId: BODY }), withBody: fails },
  },
  notify: { subscribers: new Map([['crm', {}]]), outbox: { deadEvent: fails } },
} as unknown as ReplayItemParts;

const EVENT = formatNotifyItem({ subscriber: 'crm', receivedAt: 'dead', eventId: BODY, jobId: 'job1' });

it.each([
  ['release', BODY],
  ['notify', EVENT],
] as const)('an item of a %s that the store fails is one of its job', async (kind, item) => {
  const state = { ...NEW_REPLAY, selector: { kind } };
  expect(await processItem(PARTS, state, item, new AbortController().signal)).toEqual({
    outcome: 'failed',
    failed: true,
    reason: 'read: the store is away',
    jobId: 'job1',
  });
});

/** An item of an event whose line the index of this replica does not have before it has read on. */
function unreadEvent(reach: () => Promise<void>) {
  const items = [{ kind: 'data', key: 'jobs/job1/data', size: 1, sha256: 'a', outcome: 'created' } as const];
  const line = ledgerLine({ deliveryId: BODY, jobId: 'job1', outcome: 'stored', items });
  let hasRead = false;
  const view = {
    deliveries: async () => ({ deliveries: hasRead ? [line] : [], nextCursor: null }),
    refresh: async () => {
      hasRead = true;
    },
    reachBack: async () => Number.NEGATIVE_INFINITY,
    requireReach: reach,
  };
  const sent: string[] = [];
  const outbox = { send: async (_: string, { id }: { id: string }) => ({ delivered: sent.push(id) > 0 }) };
  const notify = { subscribers: new Map([['crm', {}]]), store: createMemoryStore(), view, outbox };
  const event = { subscriber: 'crm', receivedAt: line.receivedAt, eventId: BODY, jobId: 'job1' };
  return { sent, parts: { notify } as unknown as ReplayItemParts, item: formatNotifyItem(event) };
}

it('an event is not gone because the index of the replica that goes on is behind', async () => {
  const { sent, parts, item } = unreadEvent(async () => undefined);
  const state = { ...NEW_REPLAY, selector: { kind: 'notify' } } as const;
  expect(await processItem(parts, state, item, new AbortController().signal)).toMatchObject({
    outcome: 'sent',
  });
  expect(sent).toEqual([BODY]);
});

it('an event is not gone where the index does not reach its line', async () => {
  const { parts, item } = unreadEvent(async () => {
    throw new Problem('conflict', 'the index has nothing yet');
  });
  const state = { ...NEW_REPLAY, selector: { kind: 'notify' } } as const;
  expect(await processItem(parts, state, item, new AbortController().signal)).toMatchObject({
    outcome: 'failed',
    reason: 'the index has nothing yet',
  });
});

it('a replica that goes on after another reads first what that one did', async () => {
  const calls: string[] = [];
  const bodies = async () => {
    calls.push('bodies');
    return fails();
  };
  const request = async () => quarantinedRequest({ deliveryId: BODY });
  const withBody = (_: string, work: (body: Buffer) => Promise<unknown>) => work(Buffer.from('{}'));
  const replays = createReplayStore(createMemoryStore());
  const state = { ...NEW_REPLAY, selector: { kind: 'release' }, total: 1 } as const;
  await replays.create(state, [BODY]);
  const parts = {
    replays,
    owner: 'other',
    busy: () => false,
    recovery: { concurrency: 1 },
    release: { quarantine: { request, withBody }, view: { bodies } },
    notify: { view: { refresh: async () => void calls.push('refresh') } },
    ledger: { append: async () => undefined },
  };
  await runReplay(parts as unknown as ReplayRunParts, state, new AbortController().signal);
  expect(calls.slice(0, 2)).toEqual(['refresh', 'bodies']);
});
