import { describe, expect, it } from '@jest/globals';
import {
  describeDead,
  describeDelivery,
  describePause,
  describeUnsent,
  type EventDelivery,
} from '../../../src/domain/event-attempts.js';

const AT = '2026-03-04T11:22:33.000Z';

describe('the words about what is not sent', () => {
  it.each([
    ['none waits', { retrying: 0, untried: 0 }],
    ['1 waits for a retry, 1 is not tried yet', { retrying: 1, untried: 1 }],
    ['1,000 are not tried yet', { retrying: 0, untried: 1000 }],
  ])('are "%s"', (words, figures) => {
    expect(describeUnsent(figures, true)).toBe(words);
  });

  it('are not "none" where the index lacks lines', () => {
    expect(describeUnsent({ retrying: 0, untried: 0 }, false)).toBe('whether one waits is unknown');
    expect(describeUnsent({ retrying: 1, untried: 0 }, false)).toBe('1 waits for a retry');
  });

  it('give the number of dead events', () => {
    expect([1, 999, 12_345].map(describeDead)).toEqual(['1 event', '999 events', '12,345 events']);
  });

  it.each<[string, Partial<EventDelivery>]>([
    ['delivered at 11:22, 200, 1st attempt', {}],
    ['delivered at 11:22, 204, 12th attempt', { status: 204, attempts: 12 }],
    ['not delivered yet: 503 at 11:22, 3rd attempt', { outcome: 'waiting', status: 503, attempts: 3 }],
    [
      'not delivered yet: no answer: timeout at 11:22, 2nd attempt',
      { outcome: 'waiting', status: null, error: 'timeout', attempts: 2 },
    ],
    [
      'not delivered yet: 503 at 11:22, 3rd attempt: “busy”',
      { outcome: 'waiting', status: 503, attempts: 3, history: [{}, { answer: 'busy' }] },
    ],
    ['not delivered, the answer was final: 410 at 11:22, 1st attempt', { outcome: 'rejected', status: 410 }],
    [
      'not delivered, it failed for 24 hours: 500 at 11:22, 21st attempt',
      { outcome: 'expired', status: 500, attempts: 21 },
    ],
    ['not delivered: the job was erased before', { outcome: 'dropped', status: null, attempts: 0 }],
    ['not tried yet', { outcome: 'untried', at: null, status: null, attempts: 0 }],
    ['unknown: no attempt is on record', { outcome: 'unknown', at: null, status: null, attempts: 0 }],
  ])('say "%s"', (words, event) => {
    const one = { at: AT, status: 200, error: null, attempts: 1, history: [] };
    const told: EventDelivery = { outcome: 'delivered', ...one, ...event };
    expect(describeDelivery(told, (instant) => instant.slice(11, 16))).toBe(words);
  });

  it('name the end of a pause until it has come', () => {
    const openSince = '2026-03-04T05:06:07.000Z';
    const pausedUntil = '2026-03-04T05:11:07.000Z';
    const at = (now: number) => describePause({ openSince, pausedUntil }, now);
    const end = Date.parse(pausedUntil);
    const then = 'one event at a time is tried until one is accepted';
    expect(at(end - 1)).toBe(`Paused since ${openSince} until ${pausedUntil}, then ${then}`);
    expect(at(end)).toBe(`Paused since ${openSince}: ${then}`);
    expect(describePause({ openSince: null, pausedUntil: null }, end)).toBeNull();
  });
});
