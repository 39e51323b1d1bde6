import { afterEach, describe, expect, it } from '@jest/globals';
import { createLedger } from '../../../src/archive/ledger/ledger.js';
import type { Subscriber } from '../../../src/outbox/subscriber.js';
import {
  type RecordedRequest,
  type RecordingServer,
  recordingServer,
} from '../../support/http/recording-server.js';
import {
  eventOf,
  type ObservedOutbox,
  OTHER_SECRET,
  outboxOf,
  SECRET,
  storedLine,
  subscriberAt,
} from '../../support/outbox/subscribed.js';
import { createMemoryStore, type MemoryStore } from '../../support/store/memory-store.js';
import { until } from '../../support/until.js';

const running: { stop(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.stop();
});

interface Given {
  readonly store?: MemoryStore;
  readonly answer?: (index: number, request: RecordedRequest) => number;
  readonly settings?: Partial<Subscriber>;
}

interface Subscribed {
  readonly store: MemoryStore;
  readonly server: RecordingServer;
  readonly outbox: ObservedOutbox;
  append(...lines: ReturnType<typeof storedLine>[]): Promise<void>;
}

async function subscribed({
  store = createMemoryStore(),
  answer,
  settings,
}: Given = {}): Promise<Subscribed> {
  const server = await recordingServer(answer);
  running.push({ stop: () => server.close() });
  const outbox = outboxOf(store, { crm: subscriberAt(server.url, settings) });
  outbox.start();
  running.push(outbox);
  await until(async () => (await outbox.statuses())[0]?.sender === 'replica-a');
  const ledger = createLedger({ store, replica: 'replica-a' });
  return {
    store,
    server,
    outbox,
    append: async (...lines) => {
      await Promise.all(lines.map((line) => ledger.append(line)));
    },
  };
}

const idsOf = ({ requests }: RecordingServer) => requests.map((request) => eventOf(request).id);

describe('a subscriber', () => {
  it('is sent what is stored after it was configured, signed with every secret', async () => {
    const store = createMemoryStore();
    const before = storedLine();
    await createLedger({ store, replica: 'r' }).append(before);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { server, append } = await subscribed({ store, settings: { secrets: [SECRET, OTHER_SECRET] } });
    const line = storedLine({ context: { call: '7' } });
    await append(line);
    await until(() => server.requests.length > 0);
    const [request] = server.requests;
    if (request === undefined) throw new Error('no request');
    expect(request.headers['content-type']).toBe('application/cloudevents+json');
    expect(eventOf(request, OTHER_SECRET)).toEqual(eventOf(request));
    expect(eventOf(request)).toMatchObject({
      specversion: '1.0',
      id: line.deliveryId,
      type: 'transcript-receiver.job.stored.v1',
      data: { jobId: line.jobId, context: { call: '7' } },
    });
    expect(idsOf(server)).toEqual([line.deliveryId]);
  });
});
