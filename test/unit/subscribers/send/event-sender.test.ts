import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { SentAttempt } from '../../../../src/domain/sent-attempt.js';
import { StoreError } from '../../../../src/store/object-store.js';
import { jobEventOf } from '../../../../src/subscribers/job-event.js';
import type { SendResult } from '../../../../src/subscribers/send/endpoint.js';
import type { EventTask } from '../../../../src/subscribers/send/event-attempts.js';
import { EventSender } from '../../../../src/subscribers/send/event-sender.js';
import { storedLine } from '../../../support/outbox/subscribed.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';
import { until } from '../../../support/until.js';

const MINUTE = 60_000;
const EVENTS = 300;

beforeEach(() => {
  jest.useFakeTimers({ now: Date.parse('2026-03-04T05:30:00Z'), doNotFake: ['nextTick', 'setImmediate'] });
});
afterEach(() => {
  jest.useRealTimers();
});

type Answer = Pick<SendResult, 'status' | 'retryAfterMs'>;

const answerOf = (status: number | null): Answer => ({ status, retryAfterMs: null });

/** A sender with these answers, and what it did. No answer: the request hangs until it is cut. */
function senderOf(
  answer: (id: string) => Answer | null,
  more: Partial<ConstructorParameters<typeof EventSender>[0]> = {},
) {
  const asked: { readonly id: string; readonly at: number; readonly status: number | null }[] = [];
  const attempts: Omit<SentAttempt, 'v'>[] = [];
  const dead: unknown[] = [];
  const sender = new EventSender({
    subscriber: 'crm',
    endpoint: {
      async send({ id }, signal): Promise<SendResult> {
        const answered = answer(id);
        const { status, retryAfterMs } = answered ?? answerOf(null);
        asked.push({ id, at: Date.now(), status });
        const at = new Date().toISOString();
        if (answered === null) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        const error = answered === null ? 'aborted' : null;
        return { at, delivered: status === 200, status, error, retryAfterMs };
      },
    },
    store: createMemoryStore(),
    sent: { record: (attempt) => attempts.push(attempt) },
    isErased: async () => false,
    findEvent: async () => null,
    observer: { sent() {}, dead: (event) => dead.push(event), breaker() {} },
    clock: Date.now,
    random: Math.random,
    maxInFlight: 8,
    state: { claim: 1, waiting: [], batches: [], openSince: null },
    documents: { saveBatch: async () => undefined, readBatch: async () => null },
    onError() {},
    isHolding: () => true,
    ...more,
  });
  return { sender, asked, attempts, dead };
}

function tasksOf(events: number): EventTask[] {
  const segment = { hour: 'dt=2026-03-04/hour=05', writer: 'w', number: 1 };
  return Array.from({ length: events }, (_, index) => {
    const deliveryId = `01J000000000000000000${index.toString().padStart(5, '0')}`;
    const event = jobEventOf(storedLine({ deliveryId, jobId: `job-${index}` }), 'memory:');
    return event === null ? [] : [{ event, segment, isOwnLine: true, from: {} as never }];
  }).flat();
}

it('leaves a subscriber alone for as long as it asks, with all events', async () => {
  const answers = [{ status: 503, retryAfterMs: 20 * MINUTE }];
  const { sender, asked } = senderOf(() => answers.shift() ?? { status: 200, retryAfterMs: null });
  await sender.accept(tasksOf(1));
  await jest.advanceTimersByTimeAsync(0);
  await sender.accept(tasksOf(2).slice(1));
  await jest.advanceTimersByTimeAsync(20 * MINUTE - 1);
  expect(asked.map(({ status }) => status)).toEqual([503]);
  await jest.advanceTimersByTimeAsync(MINUTE);
  expect(asked.map(({ status }) => status)).toEqual([503, 200, 200]);
  await sender.stop(0);
});

it('sends nothing while another replica may have taken over', async () => {
  let isHolding = false;
  const { sender, asked } = senderOf(() => answerOf(200), { isHolding: () => isHolding });
  await sender.accept(tasksOf(2));
  await jest.advanceTimersByTimeAsync(MINUTE);
  expect(asked).toEqual([]);
  isHolding = true;
  await jest.advanceTimersByTimeAsync(1000);
  expect(asked).toHaveLength(2);
  await sender.stop(0);
});

it('cuts what hangs when it stops, which stays untried', async () => {
  const answers = [answerOf(500)];
  const { sender, asked } = senderOf(() => answers.shift() ?? null);
  const tasks = tasksOf(2);
  await sender.accept(tasks);
  await jest.advanceTimersByTimeAsync(MINUTE);
  expect(asked.map(({ id }) => id)).toEqual([0, 1, 0].map((n) => tasks[n]?.event.id));
  const stopping = sender.stop(1000);
  await jest.advanceTimersByTimeAsync(1000);
  await stopping;
  expect(sender.oldestUntried()).toBe(tasks[1]);
  expect(sender.snapshot().waiting).toMatchObject([{ id: tasks[0]?.event.id, attempts: 1 }]);
});

it('sends an event that waits no sooner when its line is read again, and one of which the store does not say whether it is erased', async () => {
  const isErased = () => Promise.reject(new StoreError('head', 'away'));
  const { sender, asked } = senderOf(() => answerOf(500), { isErased });
  for (let n = 0; n < 3; n += 1) {
    await sender.accept(tasksOf(1));
    await jest.advanceTimersByTimeAsync(0);
  }
  expect(asked).toHaveLength(1);
  await sender.stop(0);
});

it.each([
  ['is kept once the store takes it, and sent no more', false],
  ['of a former replica is kept, and not sent', true],
])('an event that ended %s', async (_, isFormer) => {
  jest.useRealTimers();
  let fails = 2;
  const store = createMemoryStore((operation) => {
    if (operation === 'replace' && fails-- > 0) throw new StoreError(operation, 'away');
  });
  const [task] = tasksOf(1);
  if (task === undefined) throw new Error('no event');
  const { id, data, time: receivedAt } = task.event;
  const place = { id, jobId: data.jobId, segment: task.segment, receivedAt, source: data.source };
  const ended = {
    ...place,
    firstTriedAt: 1,
    nextTryAt: 1,
    attempts: 1,
    history: [],
    ended: 'rejected' as const,
  };
  const answers = [500, 410].map(answerOf);
  const { sender, asked, dead } = senderOf(() => answers.shift() ?? answerOf(200), {
    store,
    state: { claim: 1, waiting: isFormer ? [ended] : [], batches: [], openSince: null },
    findEvent: async () => task.event,
    times: { firstPause: 1, longestPause: 1, total: 600_000 },
  });
  if (!isFormer) await sender.accept([task]);
  await until(() => dead.length > 0);
  await sender.stop(0);
  expect(asked.map(({ status }) => status)).toEqual(isFormer ? [] : [500, 410]);
  expect([dead, sender.snapshot().waiting]).toEqual([[expect.objectContaining({ reason: 'rejected' })], []]);
  expect([...store.objects.keys()].some((key) => key.includes(`/dead/${id}`))).toBe(true);
});

it('holds up no others for events that always fail', async () => {
  const tasks = tasksOf(EVENTS);
  const poison = new Set(tasks.slice(0, 10).map(({ event }) => event.id));
  const { sender, asked } = senderOf((id) => answerOf(poison.has(id) ? 422 : 200));
  const accepted = () => asked.filter(({ status }) => status === 200).length;
  await sender.accept(tasks.slice(0, 20));
  await jest.advanceTimersByTimeAsync(1.5 * MINUTE);
  expect(accepted()).toBe(10);
  for (let n = 20; n < EVENTS; n += 1) {
    await sender.accept(tasks.slice(n, n + 1));
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(accepted()).toBe(n - 9);
  }
  expect(sender.snapshot()).toMatchObject({ openSince: null, waiting: { length: 10 } });
  await sender.stop(0);
});

it('asks for the line of an event that waits with pauses while the store does not give it', async () => {
  let lookups = 0;
  const waiting = {
    id: 'e1',
    jobId: 'job-1',
    segment: { hour: 'h', writer: 'w', number: 1 },
    receivedAt: new Date(0).toISOString(),
    source: null,
    firstTriedAt: Date.now(),
    nextTryAt: Date.now(),
    attempts: 1,
    history: [],
  };
  const { sender, asked } = senderOf(() => answerOf(200), {
    state: { claim: 1, waiting: [waiting], batches: [], openSince: null },
    findEvent() {
      lookups += 1;
      return Promise.reject(new StoreError('read', 'away'));
    },
  });
  await jest.advanceTimersByTimeAsync(MINUTE);
  expect([lookups, asked, sender.snapshot().waiting.length]).toEqual([13, [], 1]);
  await sender.stop(0);
});

it('loses and repeats nothing over an hour of 500, asks little meanwhile, and sends all within minutes of its end', async () => {
  let status = 500;
  const { sender, asked, attempts, dead } = senderOf(() => ({ status, retryAfterMs: null }));
  const tasks = tasksOf(EVENTS);
  const accepted = sender.accept(tasks);

  await jest.advanceTimersByTimeAsync(60 * MINUTE);
  // Five at first, then pauses of up to five minutes.
  expect(asked.length).toBeGreaterThan(10);
  expect(asked.length).toBeLessThan(60);
  expect(sender.snapshot().openSince).not.toBeNull();
  expect(attempts.every(({ ended }) => ended === null)).toBe(true);

  status = 200;
  await jest.advanceTimersByTimeAsync(6 * MINUTE);
  await accepted;
  const delivered = asked.filter((each) => each.status === 200).map(({ id }) => id);
  expect(delivered).toHaveLength(EVENTS);
  expect(new Set(delivered)).toEqual(new Set(tasks.map(({ event }) => event.id)));
  expect(attempts.filter(({ ended }) => ended === 'delivered')).toHaveLength(EVENTS);
  expect(attempts).toHaveLength(asked.length);
  expect([dead, sender.snapshot()]).toEqual([
    [],
    { waiting: [], batches: [], openSince: null, pausedUntil: null },
  ]);
  await sender.stop(0);
});
