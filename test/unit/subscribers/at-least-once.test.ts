import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { SentAttempt } from '../../../src/domain/sent-attempt.js';
import { newDeliveryId } from '../../../src/ledger/ledger-line.js';
import { type ObjectStore, StoreError } from '../../../src/store/object-store.js';
import type { SendResult } from '../../../src/subscribers/send/endpoint.js';
import { createSentLog } from '../../../src/subscribers/send/sent-log.js';
import { watchSubscriber } from '../../../src/subscribers/watch-subscriber.js';
import { putSegment } from '../../support/ledger/ledger-segments.js';
import { mergeLedger } from '../../support/ledger/merge-ledger.js';
import { storedLine, subscriberAt } from '../../support/outbox/subscribed.js';
import { createRandom } from '../../support/random.js';
import { createMemoryStore, type MemoryStore } from '../../support/store/memory-store.js';
import { until } from '../../support/until.js';

const RUNS = 10;
/** After the faults: a count, because a busy machine may need ten times the milliseconds of a quiet one. */
const ROUNDS = 300;
const HOUR = 3_600_000;

/** A bucket, a clock, a subscriber and replicas that come and go. */
function world(random: () => number) {
  let now = Date.parse('2026-03-04T05:30:00Z');
  let storeFails = 0;
  let addressFails = 0;
  const clock = () => now;
  const store: MemoryStore = createMemoryStore(() => {
    if (random() < storeFails) throw new StoreError('test', 'the network failed');
  }, clock);
  const expected = new Set<string>();
  const announced = new Set<string>();
  /** Rejected with 422 until the end. */
  const rejected = new Set<string>();
  const foreign: string[] = [];
  const sound: MemoryStore['objects'] = new Map();
  const senders: { hasCrashed: boolean; delivered: Set<string> }[] = [];
  const replicas: { crash(): void; stop(): Promise<void> }[] = [];

  return {
    store,
    expected,
    rejected,
    foreign,
    replicas,
    /** Those that nobody delivered, and those that only replicas delivered which died before they put it on record. */
    unsent(onRecord: ReadonlySet<string>): string[] {
      const isSent = (id: string) =>
        senders.some(({ hasCrashed, delivered }) => delivered.has(id) && (!hasCrashed || onRecord.has(id)));
      return [...expected].filter((id) => !isSent(id));
    },
    advance: (ms: number) => {
      now += ms;
    },
    trouble(ofStore: number, ofAddress: number) {
      storeFails = ofStore;
      addressFails = ofAddress;
    },
    /** A segment of a writer, of lines that were received `age` ago. The time of the store never goes back. */
    append(writer: string, age: number, lines = 2, areRejected = false) {
      const texts = Array.from({ length: lines }, () => {
        const receivedAt = new Date(now - age).toISOString();
        const line = storedLine({ receivedAt, deliveryId: newDeliveryId(now - age), durationMs: age });
        expected.add(line.deliveryId);
        announced.add(line.deliveryId);
        if (areRejected) rejected.add(line.deliveryId);
        return JSON.stringify(line);
      });
      putSegment(store, new Date(now).toISOString(), texts, writer);
    },
    async merge(keepSegments: number | null) {
      await mergeLedger({ store, clock, keepSegments });
    },
    /** Damages a merged object, or its record. */
    damage() {
      const keys = [...store.objects.keys()].filter((key) => key.startsWith('ledger-hours/'));
      const key = keys[Math.floor(random() * keys.length)];
      const object = key === undefined ? undefined : store.objects.get(key);
      if (key === undefined || object === undefined || sound.has(key)) return;
      sound.set(key, object);
      store.put(key, 'damaged');
    },
    repair() {
      for (const [key, object] of sound) store.objects.set(key, object);
      sound.clear();
    },
    start(owner: string) {
      const sender = { hasCrashed: false, delivered: new Set<string>() };
      senders.push(sender);
      const alive =
        <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) =>
        async (...args: Args): Promise<T> => {
          if (sender.hasCrashed) return new Promise<T>(() => undefined);
          const result = await call(...args);
          return sender.hasCrashed ? new Promise<T>(() => undefined) : result;
        };
      const own: ObjectStore = {
        ...store,
        create: alive(store.create),
        replace: alive(store.replace),
        head: alive(store.head),
        read: alive(store.read),
        delete: alive(store.delete),
      };
      const send = alive(async (event: { id: string }): Promise<SendResult> => {
        const at = new Date(now).toISOString();
        if (random() < 0.3) await new Promise((resolve) => setTimeout(resolve, random() * 10));
        const failed = { at, delivered: false, error: null, retryAfterMs: null };
        if (rejected.has(event.id)) return { ...failed, status: 422 };
        if (random() < addressFails)
          return random() < 0.5
            ? { ...failed, status: 503 }
            : { ...failed, status: null, error: 'ECONNRESET' };
        if (!announced.has(event.id)) foreign.push(event.id);
        sender.delivered.add(event.id);
        // The answer is lost on the way.
        if (random() < addressFails / 2) return { ...failed, status: null, error: 'timeout' };
        return { ...failed, delivered: true, status: 200 };
      });
      const watch = watchSubscriber({
        name: 'crm',
        subscriber: subscriberAt('http://127.0.0.1/'),
        store: own,
        owner,
        endpoint: { send },
        sent: createSentLog({
          store: own,
          subscriber: 'crm',
          replica: owner,
          clock,
          interval: 2,
          onError: () => undefined,
        }),
        stopWithin: 100,
        isErased: async () => false,
        clock,
        random,
        times: {
          poll: 3,
          busyPoll: 1,
          save: 2,
          heartbeat: 5,
          retry: { firstPause: 1, longestPause: 5, total: 1e12 },
        },
        lease: 15,
        observer: {
          events: () => ({ sent() {}, dead() {}, breaker() {} }),
          delayed() {},
          sending() {},
        },
      });
      replicas.push({
        crash() {
          sender.hasCrashed = true;
          void watch.stop();
        },
        stop: watch.stop,
      });
    },
  };
}

const action = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('burst' as const, 'rejected' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('append' as const), replica: fc.constantFrom('a', 'b', 'c') }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('long' as const),
      hours: fc.constantFrom(0.5, 1, 3, 12, 50),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      ms: fc.constantFrom(60_000, 10 * 60_000, HOUR, 5 * HOUR, 30 * HOUR),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('merge' as const), deletes: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('damage' as const, 'repair' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('trouble' as const),
      ofStore: fc.constantFrom(0, 0, 0.1, 0.5),
      ofAddress: fc.constantFrom(0, 0.3, 1),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 12 }) }),
  },
);

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

const WAIT: Action = { kind: 'wait', ms: 15 };

/** Events that a segment of what was sent has as delivered. */
function deliveredOnRecord({ objects }: MemoryStore): Set<string> {
  const segments = [...objects].filter(([key]) => key.startsWith('outbox/crm/sent/'));
  const lines = segments.flatMap(([, { body }]) => body.toString().trim().split('\n'));
  const attempts = lines.map((line) => JSON.parse(line) as SentAttempt);
  return new Set(attempts.flatMap(({ ended, event }) => (ended === 'delivered' ? [event] : [])));
}

/** What the random orders rarely come to. */
const EXAMPLES: [Action[], number][] = [
  // The sender dies while events wait for their retry, which the state has to remember, and others were not tried.
  [[{ kind: 'trouble', ofStore: 0, ofAddress: 1 }, { kind: 'burst' }, WAIT, WAIT, { kind: 'crash' }], 1],
  // More events wait than memory has, and senders die while the store fails at times.
  [
    [
      { kind: 'rejected' },
      WAIT,
      { kind: 'wait', ms: 600 },
      { kind: 'trouble', ofStore: 0.1, ofAddress: 0.3 },
      { kind: 'crash' },
      { kind: 'wait', ms: 600 },
      { kind: 'crash' },
      { kind: 'wait', ms: 300 },
      { kind: 'trouble', ofStore: 0, ofAddress: 0 },
      { kind: 'crash' },
    ],
    3,
  ],
  // An hour is read in part by its segments, and the rest after they were merged and deleted.
  [
    [
      { kind: 'append', replica: 'a' },
      WAIT,
      { kind: 'stop' },
      { kind: 'trouble', ofStore: 0.5, ofAddress: 0 },
      { kind: 'append', replica: 'a' },
      { kind: 'append', replica: 'b' },
      { kind: 'advance', ms: 30 * HOUR },
      { kind: 'merge', deletes: true },
      { kind: 'advance', ms: 5 * HOUR },
      { kind: 'merge', deletes: true },
    ],
    2,
  ],
  // An hour is merged and its segments are deleted while it is read and the address fails.
  [
    [
      { kind: 'trouble', ofStore: 0, ofAddress: 1 },
      { kind: 'burst' },
      WAIT,
      { kind: 'advance', ms: HOUR },
      { kind: 'merge', deletes: false },
      { kind: 'advance', ms: 30 * HOUR },
      { kind: 'merge', deletes: true },
    ],
    0,
  ],
];

describe('events', () => {
  it('are sent at least once with their id, and are on record then, whatever crashes, fails, takes long or is merged', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 5, maxLength: 30 }),
        fc.integer(),
        async (actions, seed) => {
          const { next: random } = createRandom(seed, 'outbox');
          const given = world(random);
          const { store, expected, replicas } = given;
          const stops: Promise<void>[] = [];
          let started = 0;
          const start = () => {
            started += 1;
            given.start(`replica-${started}`);
          };
          start();
          await until(() => store.objects.has('outbox/crm/state.json'));
          for (const each of actions) {
            if (each.kind === 'append') given.append(each.replica, 10);
            else if (each.kind === 'burst')
              for (let index = 60; index > 0; index -= 1) given.append('b', index * 1000, 1);
            else if (each.kind === 'rejected')
              for (let index = 150; index > 0; index -= 1) {
                given.append('b', index * 1000, 3, true);
                given.append('b', index * 1000, 1);
              }
            else if (each.kind === 'long') given.append('long', each.hours * HOUR);
            else if (each.kind === 'advance') given.advance(each.ms);
            else if (each.kind === 'merge') await given.merge(each.deletes ? 24 * HOUR : null);
            else if (each.kind === 'damage') given.damage();
            else if (each.kind === 'repair') given.repair();
            else if (each.kind === 'trouble') given.trouble(each.ofStore, each.ofAddress);
            else if (each.kind === 'wait') await new Promise((resolve) => setTimeout(resolve, each.ms));
            else {
              const last = replicas.pop();
              if (each.kind === 'crash') last?.crash();
              else if (last) stops.push(last.stop());
              start();
            }
          }
          given.trouble(0, 0);
          given.rejected.clear();
          given.repair();
          // A store that refuses the record holds up no event.
          const isRecorded = actions.every((each) => each.kind !== 'trouble' || each.ofStore === 0);
          const onRecord = () => (isRecorded ? deliveredOnRecord(store) : expected);
          for (let round = 0; given.unsent(onRecord()).length > 0 && round < ROUNDS; round += 1) {
            given.advance(2 * HOUR);
            if (round % 4 === 0) await given.merge(null);
            await new Promise((resolve) => setTimeout(resolve, 10));
          }
          await Promise.all([...stops, ...replicas.map((each) => each.stop())]);
          const recorded = onRecord();
          expect(given.unsent(recorded)).toEqual([]);
          expect([...expected].filter((id) => !recorded.has(id))).toEqual([]);
          expect(given.foreign).toEqual([]);
        },
      ),
      { numRuns: RUNS, examples: EXAMPLES },
    );
  });
});
