import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { SentAttempt } from '../../../../src/domain/sent-attempt.js';
import { jobEventOf } from '../../../../src/subscribers/job-event.js';
import type { SendResult } from '../../../../src/subscribers/send/endpoint.js';
import type { EventTask } from '../../../../src/subscribers/send/event-attempts.js';
import { EventSender } from '../../../../src/subscribers/send/event-sender.js';
import { storedLine } from '../../../support/outbox/subscribed.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const MINUTE = 60_000;
const EVENTS = 300;

beforeEach(() => {
  jest.useFakeTimers({ now: Date.parse('2026-03-04T05:30:00Z'), doNotFake: ['nextTick', 'setImmediate'] });
});
afterEach(() => {
  jest.useRealTimers();
});

/** A sender with these answers, and what it did. */
function senderOf(answer: () => Pick<SendResult, 'status' | 'retryAfterMs'>) {
  const asked: { readonly id: string; readonly at: number; readonly status: number | null }[] = [];
  const attempts: Omit<SentAttempt, 'v'>[] = [];
  const dead: unknown[] = [];
  const sender = new EventSender({
    subscriber: 'crm',
    endpoint: {
      async send({ id }): Promise<SendResult> {
        const { status, retryAfterMs } = answer();
        asked.push({ id, at: Date.now(), status });
        const at = new Date().toISOString();
        return { at, delivered: status === 200, status, error: null, retryAfterMs };
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
    state: { waiting: [], openSince: null },
    isHolding: () => true,
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
  expect(sender.oldest()).not.toBeNull();
  expect(attempts.every(({ ended }) => ended === null)).toBe(true);

  status = 200;
  await jest.advanceTimersByTimeAsync(6 * MINUTE);
  await accepted;
  const delivered = asked.filter((each) => each.status === 200).map(({ id }) => id);
  expect(delivered).toHaveLength(EVENTS);
  expect(new Set(delivered)).toEqual(new Set(tasks.map(({ event }) => event.id)));
  expect(attempts.filter(({ ended }) => ended === 'delivered')).toHaveLength(EVENTS);
  expect(attempts).toHaveLength(asked.length);
  expect([dead, sender.snapshot(), sender.oldest()]).toEqual([
    [],
    { waiting: [], openSince: null, pausedUntil: null },
    null,
  ]);
  await sender.stop(0);
});
