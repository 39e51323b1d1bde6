import { describe, expect, it } from '@jest/globals';
import { createBreaker } from '../../../../src/subscribers/send/breaker.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const START = Date.parse('2026-03-04T05:30:00Z');

function breakerOf({ random = 1, openSince = null as number | null } = {}) {
  let now = START;
  const changes: boolean[] = [];
  const breaker = createBreaker({
    clock: () => now,
    random: () => random,
    openSince,
    onChange: (isOpen) => changes.push(isOpen),
  });
  return {
    breaker,
    changes,
    pass: (ms: number) => {
      now += ms;
    },
    fail(times: number, retryAfterMs: number | null = null, firstTriedAt = now) {
      for (let n = 0; n < times; n += 1) breaker.failed(retryAfterMs, firstTriedAt);
    },
  };
}

describe('the breaker of a subscriber', () => {
  it('opens at the fifth failure in a row', () => {
    const at = breakerOf();
    at.fail(4);
    at.breaker.succeeded();
    at.fail(4);
    expect([at.changes, at.breaker.mayStartAt(7), at.breaker.pausedUntil]).toEqual([[], 0, null]);
    at.fail(1);
    expect([at.changes, at.breaker.openSince, at.breaker.pausedUntil]).toEqual([
      [true],
      START,
      START + 5 * SECOND,
    ]);
  });

  it('stays closed for an event that failed before another one was accepted, unless it asks to be left alone', () => {
    const at = breakerOf();
    at.pass(SECOND);
    at.breaker.succeeded();
    at.fail(100, null, START);
    expect(at.changes).toEqual([]);
    at.fail(1, SECOND, START);
    expect(at.changes).toEqual([true]);
  });

  it('lets one request at a time try, after a pause, and closes when one succeeds', () => {
    const at = breakerOf({ random: 0 });
    at.fail(5);
    expect([0, 1].map((inFlight) => at.breaker.mayStartAt(inFlight))).toEqual([
      START + 2.5 * SECOND,
      Number.POSITIVE_INFINITY,
    ]);
    at.breaker.succeeded();
    at.breaker.succeeded();
    expect([at.changes, at.breaker.mayStartAt(1), at.breaker.openSince]).toEqual([[true, false], 0, null]);
  });

  it('doubles the pause with each failure behind it, up to five minutes, and not with those that were in flight', () => {
    const at = breakerOf();
    at.fail(8);
    expect(at.breaker.pausedUntil).toBe(START + 5 * SECOND);
    at.pass(5 * SECOND);
    at.fail(1);
    expect(at.breaker.pausedUntil).toBe(START + 15 * SECOND);
    for (let n = 0; n < 100; n += 1) {
      at.pass(5 * MINUTE);
      at.fail(1);
    }
    expect([at.changes, at.breaker.openSince, at.breaker.pausedUntil]).toEqual([
      [true],
      START,
      START + 5 * SECOND + 101 * 5 * MINUTE,
    ]);
  });

  it('opens at once for as long as the subscriber asks, up to an hour, and no failure makes that shorter', () => {
    const at = breakerOf();
    at.fail(1, 20 * MINUTE);
    at.pass(SECOND);
    at.fail(4);
    expect([at.changes, at.breaker.pausedUntil]).toEqual([[true], START + 20 * MINUTE]);
    at.fail(1, 48 * 60 * MINUTE);
    expect(at.breaker.pausedUntil).toBe(START + SECOND + 60 * MINUTE);
  });

  it('that was open before a take-over lets one try at once, and pauses again when that fails', () => {
    const at = breakerOf({ openSince: START - MINUTE });
    expect([at.breaker.openSince, at.breaker.mayStartAt(0)]).toEqual([START - MINUTE, START]);
    at.fail(1);
    expect([at.changes, at.breaker.openSince, at.breaker.pausedUntil]).toEqual([
      [],
      START - MINUTE,
      START + 10 * SECOND,
    ]);
  });
});
