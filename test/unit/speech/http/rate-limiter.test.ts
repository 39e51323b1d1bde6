import { describe, expect, it } from '@jest/globals';
import { createRateLimiter } from '../../../../src/speech/http/rate-limiter.js';
import { manualClock } from '../../../support/manual-clock.js';

function limiter(limits: { perSecond?: number; maxPauseMs?: number } = {}) {
  const clock = manualClock();
  const began = clock.now();
  const made = createRateLimiter({ perSecond: 10, maxPauseMs: 60_000, ...limits }, clock);
  return { clock, limiter: made, passed: () => clock.now() - began, take: () => made.take('ask') };
}

describe('the rate limiter', () => {
  it('lets a burst out after a quiet time, then keeps to the rate', async () => {
    const { take, passed } = limiter();
    for (let n = 0; n < 10; n += 1) await take();
    expect(passed()).toBe(0);
    for (let n = 0; n < 10; n += 1) await take();
    expect(passed()).toBe(1000);
  });

  it('sends nothing during a pause, and no burst after it', async () => {
    const { limiter: made, take, passed } = limiter();
    expect(made.pause(5000)).toBe(true);
    await take();
    expect(passed()).toBe(5000);
    for (let n = 0; n < 10; n += 1) await take();
    expect(passed()).toBe(6000);
  });

  it('respects a pause that begins while a request waits', async () => {
    const { clock, limiter: made, passed } = limiter({ perSecond: 1 });
    await made.take('ask');
    const sleep = clock.sleep;
    let paused = false;
    clock.sleep = async (ms, signal) => {
      await sleep(ms, signal);
      if (!paused) made.pause(5000);
      paused = true;
    };
    await made.take('ask');
    expect(passed()).toBeGreaterThanOrEqual(6000);
  });

  it('refuses while a pause is too long to wait for, and goes on when it is over', async () => {
    const { clock, limiter: made, take } = limiter();
    expect(made.pause(61_000)).toBe(false);
    await expect(take()).rejects.toMatchObject({ kind: 'paused', operation: 'ask', retryAfterMs: 61_000 });
    clock.advance(61_000);
    await take();
  });

  it('adds pauses up until a request succeeds, or a long time has passed', async () => {
    const { clock, limiter: made } = limiter();
    const pauses = (ms: number) => {
      const mayWait = made.pause(ms);
      clock.advance(ms);
      return mayWait;
    };
    expect([pauses(40_000), pauses(40_000)]).toEqual([true, false]);
    made.succeeded();
    expect([pauses(40_000), pauses(40_000)]).toEqual([true, false]);
    clock.advance(60_001);
    expect(pauses(40_000)).toBe(true);
  });

  it('counts a pause once when several requests receive it', () => {
    const { limiter: made } = limiter();
    for (let n = 0; n < 16; n += 1) expect(made.pause(40_000)).toBe(true);
  });
});
