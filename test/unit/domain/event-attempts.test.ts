import { describe, expect, it } from '@jest/globals';
import {
  describeDead,
  describeNextAttempt,
  describePause,
  describeUnsent,
} from '../../../src/domain/event-attempts.js';

describe('the words about what is not sent', () => {
  it.each([
    ['none waits', { retrying: 0, untried: 0, unread: false }],
    ['1 waits for a retry, 1 is not tried yet', { retrying: 1, untried: 1, unread: false }],
    ['at least 1,000 are not tried yet', { retrying: 0, untried: 1000, unread: true }],
    ['2 wait for a retry, new ones may not be read yet', { retrying: 2, untried: 0, unread: true }],
  ])('are "%s"', (words, figures) => {
    expect(describeUnsent(figures)).toBe(words);
  });

  it('claim no more dead events than were counted', () => {
    expect([1, 999, 1000].map(describeDead)).toEqual(['1 event', '999 events', 'At least 1,000 events']);
  });

  it('put a next attempt behind the end of a pause', () => {
    const [now, next, end] = [5, 6, 7].map((second) => `2026-03-04T05:06:0${second}.000Z`) as [
      string,
      string,
      string,
    ];
    const at = (nextTryAt: string, pausedUntil: string | null) =>
      describeNextAttempt(nextTryAt, pausedUntil, Date.parse(now));
    expect([at(next, end), at(now, end)]).toEqual(['after the pause', 'after the pause']);
    expect([at(next, null), at(end, next)]).toEqual([next, end]);
    expect([at(now, null), at(now, now)]).toEqual(['due', 'due']);
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
