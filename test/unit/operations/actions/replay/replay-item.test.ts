import { expect, it } from '@jest/globals';
import { formatNotifyItem } from '../../../../../src/operations/actions/replay/notify-item.js';
import {
  type ReplayItemParts,
  workOnItem,
} from '../../../../../src/operations/actions/replay/replay-item.js';
import { StoreError } from '../../../../../src/store/object-store.js';
import { NEW_REPLAY } from '../../../../support/new-replay.js';
import { quarantinedRequest } from '../../../../support/quarantined-request.js';

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
  expect(await workOnItem(PARTS, state, item, new AbortController().signal)).toEqual({
    outcome: 'failed',
    failed: true,
    reason: 'read: the store is away',
    jobId: 'job1',
  });
});
