import { afterEach, describe, expect, it } from '@jest/globals';
import { indexInThread } from '../../../../../src/index/fill/index-in-thread.js';
import { createLedgerView } from '../../../../../src/index/ledger-view.js';
import { createLedger } from '../../../../../src/ledger/write/ledger.js';
import { createDeadEventCounter } from '../../../../../src/operations/admin/subscribers/count-dead-events.js';
import { createJobEvents } from '../../../../../src/operations/admin/subscribers/job-events.js';
import { listSubscribers } from '../../../../../src/operations/admin/subscribers/list-subscribers.js';
import { StoreError } from '../../../../../src/store/object-store.js';
import { recordingServer } from '../../../../support/http/recording-server.js';
import { outboxOf, storedLine, subscriberAt } from '../../../../support/outbox/subscribed.js';
import { createMemoryStore } from '../../../../support/store/memory-store.js';
import { until } from '../../../../support/until.js';

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.stop();
});

/** A subscriber of a store that may refuse the record of what was sent. */
async function subscribed(refuses: () => boolean, answer: () => number = () => 200) {
  const store = createMemoryStore((operation, key) => {
    if (operation === 'create' && key.includes('/sent/') && refuses())
      throw new StoreError('create', 'access denied');
  });
  const server = await recordingServer(answer);
  const subscribers = { crm: subscriberAt(server.url, { sources: ['a', 'b'] }) };
  const outbox = outboxOf(store, subscribers);
  const ledger = createLedger({ store, replica: 'replica-a' });
  const start = (startIndex = indexInThread) => {
    const view = createLedgerView({ store, startIndex });
    running.push(view);
    const countDead = createDeadEventCounter(store, view.sent);
    const events = createJobEvents(store, view, outbox);
    return {
      figures: async (scope: ReadonlySet<string> | null = null) =>
        (await listSubscribers({ outbox, view, countDead, fresh: view.refresh }, scope))[0],
      async told(jobId: string, scope: ReadonlySet<string> | null = null) {
        await view.refresh();
        const { entries } = await view.search({ job: jobId, limit: 10, scope });
        const places = new Map(entries.map(({ line, place }) => [line, place]));
        return events(jobId, [...places.keys()], places, scope);
      },
    };
  };
  outbox.start();
  running.push({ stop: () => server.close() }, outbox);
  await until(async () => (await outbox.statuses())[0]?.sender === 'replica-a');
  return { store, server, outbox, ledger, start, ...start() };
}

describe('what a subscriber was sent about a job', () => {
  it('is unknown where the store refused the record, and sending goes on', async () => {
    const { server, outbox, ledger, told } = await subscribed(() => true);
    await ledger.append(storedLine({ jobId: 'job1', source: 'a' }));
    await until(() => server.requests.length === 1);
    await until(async () => (await told('job1'))[0]?.outcome === 'unknown');
    expect(await told('job1')).toMatchObject([
      { subscriber: 'crm', at: null, attempts: 0, type: 'job.stored' },
    ]);
    await ledger.append(storedLine({ jobId: 'job2', source: 'a' }));
    await until(() => server.requests.length === 2);
    expect(outbox.errors).toHaveLength(1);
  });

  it('waits behind the position of the sender, exactly counted by source, and is told once it is accepted', async () => {
    let status = 410;
    const { outbox, ledger, told, figures, start } = await subscribed(
      () => false,
      () => status,
    );
    await ledger.append(storedLine({ jobId: 'pauses', source: 'a' }));
    await until(async () => (await figures())?.dead === 1);
    const lines = Array.from({ length: 300 }, (_, index) =>
      storedLine({ jobId: `job-${index}`, source: index % 3 === 0 ? 'b' : 'a' }),
    );
    await Promise.all(lines.map((line) => ledger.append(line)));
    expect(await figures()).toMatchObject({ untried: 300, retrying: 0, sent: 0, dead: 1 });
    expect(await figures(new Set(['b']))).toMatchObject({ untried: 100, dead: 0, sources: ['b'] });
    expect(await told('job-0')).toMatchObject([{ subscriber: 'crm', outcome: 'untried' }]);
    expect(await told('job-0', new Set(['a']))).toEqual([]);
    status = 200;
    const [dead] = (await outbox.deadEvents('crm', { limit: 1 })).deadEvents;
    if (dead === undefined) throw new Error('no dead event');
    await outbox.send('crm', dead.event, new AbortController().signal);
    await until(async () => (await figures())?.untried === 0);
    expect(await figures()).toMatchObject({ sent: 301, untried: 0, retrying: 0, dead: 0, lagSeconds: 0 });
    expect(await told('job-0')).toMatchObject([{ outcome: 'delivered', status: 200, attempts: 1 }]);
    expect(await told('pauses')).toMatchObject([{ outcome: 'delivered', status: 200, attempts: 2 }]);
    // An index that is built anew gives the same.
    expect(await start().figures()).toEqual(await figures());
  });
});
