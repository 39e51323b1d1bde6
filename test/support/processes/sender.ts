import { openStore } from '../../../src/store/open-store.js';
import { FAST, outboxOf, subscriberAt } from '../outbox/subscribed.js';

/** A process of its own that sends the events of a store until it is killed. */
export interface SenderProcessOptions {
  readonly storeUrl: string;
  readonly subscriberUrl: string;
  readonly owner: string;
  readonly lease: number;
}

process.on('message', async ({ storeUrl, subscriberUrl, owner, lease }: SenderProcessOptions) => {
  const store = await openStore({ url: storeUrl, fsync: false });
  const times = {
    ...FAST,
    save: 20,
    heartbeat: 50,
    retry: { firstPause: 20, longestPause: 100, total: 1e9 },
  };
  outboxOf(store, { crm: subscriberAt(subscriberUrl) }, { owner, lease, times }).start();
  process.send?.('sending');
});
process.send?.('ready');
