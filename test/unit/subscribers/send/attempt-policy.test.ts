import { describe, expect, it } from '@jest/globals';
import type { Attempt } from '../../../../src/subscribers/dead-event.js';
import { isTemporary, nextTry, withAttempt } from '../../../../src/subscribers/send/attempt-policy.js';

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const NOW = Date.parse('2026-03-04T05:30:00Z');

describe('an event that failed', () => {
  it.each([
    ['in half of the first pause at the earliest', 1, 0, null, 2.5 * SECOND],
    ['in the first pause at the latest', 1, 1, null, 5 * SECOND],
    ['in twice that after each further attempt', 3, 1, null, 20 * SECOND],
    ['in an hour, however often it failed', 1000, 1, null, HOUR],
    ['when its subscriber asks for it', 1, 0, 60 * SECOND, 60 * SECOND],
    ['in its pause when its subscriber asks for less', 1, 1, SECOND, 5 * SECOND],
    ['in an hour, whatever its subscriber asks for', 1, 0, 48 * HOUR, HOUR],
  ])('is tried again %s', (_, attempts, random, retryAfterMs, pause) => {
    const failed = { attempts, firstTriedAt: NOW };
    expect(nextTry(failed, NOW, retryAfterMs, random)).toBe(NOW + pause);
  });

  it('is tried for the last time when 24 hours are over, and then no more', () => {
    const failed = { attempts: 1000, firstTriedAt: NOW - 24 * HOUR + SECOND };
    expect(nextTry(failed, NOW, null, 1)).toBe(NOW + SECOND);
    expect(nextTry(failed, NOW + SECOND, null, 1)).toBeNull();
  });

  it('keeps its first four and its last four attempts', () => {
    const attempts = Array.from({ length: 12 }, (_, n) => ({ at: `${n}`, status: 500, error: null }));
    const kept = attempts.reduce<readonly Attempt[]>(withAttempt, []);
    expect(kept.map(({ at }) => Number(at))).toEqual([0, 1, 2, 3, 8, 9, 10, 11]);
    expect(attempts.slice(0, 8).reduce<readonly Attempt[]>(withAttempt, [])).toHaveLength(8);
  });
});

it.each([
  [[408, 425, 429, 500, 503, 599], true],
  [[301, 400, 401, 404, 410, 499], false],
])('the answers %j may pass without anybody: %s', (statuses, temporary) => {
  expect(statuses.map(isTemporary)).toEqual(statuses.map(() => temporary));
});
