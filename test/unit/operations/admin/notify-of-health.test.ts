import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CLOSE_AFTER, OPEN_AFTER } from '../../../../src/operations/admin/notice-state.js';
import { createHealthNotices, noticeSubscribers } from '../../../../src/operations/admin/notify-of-health.js';
import type { Health } from '../../../../src/operations/answers/health.js';
import { issueOf } from '../../../../src/operations/issues/issue-kinds.js';
import type { Issue } from '../../../../src/operations/issues/issues.js';
import type { Outbox } from '../../../../src/subscribers/outbox.js';
import type { ReceiverEvent } from '../../../../src/subscribers/receiver-event.js';
import { type RecordingServer, recordingServer } from '../../../support/http/recording-server.js';
import { eventOf, outboxOf, subscriberAt } from '../../../support/outbox/subscribed.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const QUARANTINE = issueOf('quarantine-growing', { bodies: 1 });
const STORE = issueOf('store-not-writable', { reason: 'it is full', condition: 'full', since: null });
const HEALTH_EVENTS = ['health.opened', 'health.closed'] as const;

describe('notices of health', () => {
  let person: RecordingServer;
  let answer: number;
  let refuses: readonly string[];
  let isStoreDown: boolean;
  let isStoreFull: boolean;
  let now: number;
  let issues: readonly Issue[];
  let outboxes: Outbox[];
  let first: string;
  let store: ReturnType<typeof createMemoryStore>;

  beforeEach(async () => {
    [answer, isStoreDown, now, issues, outboxes] = [204, false, Date.parse('2026-03-04T05:06:07Z'), [], []];
    [isStoreFull, first, refuses] = [false, 'a', []];
    person = await recordingServer((_, request) =>
      refuses.includes(String(eventOf<ReceiverEvent>(request).subject)) ? 422 : answer,
    );
    store = createMemoryStore((operation) => {
      if (isStoreDown || (isStoreFull && operation === 'replace')) throw new Error('the store is down');
    });
  });
  afterEach(async () => {
    for (const each of outboxes) await each.stop();
    await person.close();
  });

  function replica(name: string) {
    const subscribers = {
      person: subscriberAt(person.url, { events: HEALTH_EVENTS }),
      crm: subscriberAt('http://127.0.0.1:9/jobs-only'),
    };
    const outbox = outboxOf(store, subscribers);
    outboxes.push(outbox);
    return createHealthNotices({
      subscribers: noticeSubscribers(new Map(Object.entries(subscribers))),
      outbox,
      store,
      isWritable: () => !isStoreDown && !isStoreFull,
      isFirst: async () => name === first,
      health: async () => healthOf(issues, !isStoreDown && !isStoreFull),
      onError(error) {
        throw error;
      },
      clock: () => now,
    });
  }

  const signal = new AbortController().signal;

  /** Looks of all replicas every 15 seconds. */
  async function pass(milliseconds: number, ...replicas: ReturnType<typeof replica>[]): Promise<void> {
    const end = now + milliseconds;
    for (; now < end; now += 15_000) {
      for (const each of replicas) {
        await each.notify(signal);
      }
    }
  }

  const sent = () =>
    person.requests.map((request) => {
      const { type, subject } = eventOf<ReceiverEvent>(request);
      return `${type.split('.')[2]} ${subject}`;
    });
  const ids = () => person.requests.map(({ headers }) => headers['webhook-id']);

  it('are sent once, whatever the number of replicas', async () => {
    const replicas = [replica('a'), replica('b'), replica('c')];
    issues = [QUARANTINE];
    await pass(OPEN_AFTER + 60_000, ...replicas);
    expect(sent()).toEqual(['opened quarantine-growing']);
    const [event] = person.requests.map((request) => eventOf<ReceiverEvent>(request));
    expect(event?.data).toEqual({
      ...QUARANTINE,
      issue: 'quarantine-growing',
      text: '1 undecodable body waits in quarantine.',
      remedy: 'Release, refetch or dismiss each, as its page and transcript-receiver quarantine say.',
      since: '2026-03-04T05:06:07.000Z',
      store: store.location,
    });
    issues = [];
    await pass(CLOSE_AFTER + 60_000, ...replicas);
    expect(sent()).toEqual(['opened quarantine-growing', 'closed quarantine-growing']);
  });

  it('are sent once when a replica stops and another goes on', async () => {
    const one = replica('a');
    const other = replica('b');
    issues = [QUARANTINE];
    await pass(OPEN_AFTER + 60_000, one, other);
    await one.stop();
    first = 'b';
    await pass(3600_000, other);
    expect(sent()).toEqual(['opened quarantine-growing']);
    issues = [];
    await pass(CLOSE_AFTER + 60_000, other);
    expect(sent()).toEqual(['opened quarantine-growing', 'closed quarantine-growing']);
  });

  it('are repeated with the same id until they are answered 2xx', async () => {
    const only = replica('a');
    issues = [QUARANTINE];
    answer = 500;
    await pass(OPEN_AFTER + 300_000, only);
    answer = 204;
    await pass(600_000, only);
    expect(ids().length).toBeGreaterThan(1);
    expect(new Set(ids()).size).toBe(1);
    const arrived = ids().length;
    await pass(600_000, only);
    expect(ids()).toHaveLength(arrived);
  });

  it('hold up no others when they are never answered 2xx', async () => {
    const only = replica('a');
    issues = [STORE, QUARANTINE, issueOf('index-behind', { reason: 'its disk is full', since: null })];
    refuses = ['store-not-writable', 'quarantine-growing'];
    await pass(OPEN_AFTER + 300_000, only);
    expect(sent().filter((each) => each === 'opened index-behind')).toHaveLength(1);
    refuses = [];
    await pass(300_000, only);
    expect(sent().slice(-2).sort()).toEqual(['opened quarantine-growing', 'opened store-not-writable']);
  });

  it('wait for nothing that a clock said which was a day ahead', async () => {
    const DAY = 86_400_000;
    const only = replica('a');
    now += DAY;
    issues = [STORE];
    await pass(OPEN_AFTER + 15_000, only);
    answer = 500;
    issues = [QUARANTINE];
    await pass(OPEN_AFTER + 15_000, only);
    issues = [QUARANTINE, issueOf('index-behind', { reason: 'its disk is full', since: null })];
    await pass(15_000, only);
    now -= DAY;
    answer = 204;
    await pass(OPEN_AFTER + CLOSE_AFTER + 30_000, only);
    const titles = new Set(sent());
    expect([...titles]).toEqual([
      'opened store-not-writable',
      'opened quarantine-growing',
      'opened index-behind',
      'closed store-not-writable',
    ]);
  });

  it('go out while the store is down, once, and the end of it afterwards', async () => {
    const replicas = [replica('a'), replica('b')];
    await pass(60_000, ...replicas);
    isStoreDown = true;
    issues = [STORE];
    await pass(OPEN_AFTER + 600_000, ...replicas);
    expect(sent()).toEqual(['opened store-not-writable']);
    isStoreDown = false;
    issues = [];
    await pass(CLOSE_AFTER + 60_000, ...replicas);
    expect(sent()).toEqual(['opened store-not-writable', 'closed store-not-writable']);
  });

  it('come from the same replica while the store is full and canaries end one by one', async () => {
    const replicas = [replica('a'), replica('b')];
    await pass(60_000, ...replicas);
    [isStoreFull, issues] = [true, [STORE]];
    await pass(OPEN_AFTER + 60_000, ...replicas);
    first = 'b';
    await pass(OPEN_AFTER + 60_000, ...replicas);
    expect(sent()).toEqual(['opened store-not-writable']);
  });

  it('have the same id from a successor that does not know that they arrived', async () => {
    issues = [QUARANTINE];
    await pass(OPEN_AFTER + 15_000, replica('a'));
    first = 'b';
    await pass(OPEN_AFTER, replica('b'));
    expect(ids()).toHaveLength(2);
    expect(new Set(ids()).size).toBe(1);
  });

  it('make no write while nothing changes', async () => {
    const only = replica('a');
    await pass(60_000, only);
    const { length } = store.calls;
    await pass(600_000, only);
    expect(store.calls).toHaveLength(length);
  });
});

function healthOf(issues: readonly Issue[], writable: boolean): Health {
  const seen = {
    verdict: { issues },
    store: { writable },
    unknown: writable ? {} : { quarantine: { reason: 'no answer', since: null } },
  };
  return seen as unknown as Health;
}
