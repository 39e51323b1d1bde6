import { describe, expect, it } from '@jest/globals';
import { type Backoff, retryAfter } from '../../../../src/lib/time/retry.js';

const BACKOFF: Backoff = { retries: 4, baseDelayMs: 100, maxDelayMs: 500, random: () => 0.5 };

/** An attempt that fails `times` times, its first among them, and the delays that the loop requests. */
function failing(times: number, rules: { backoff?: Partial<Backoff>; last?: number } = {}) {
  const offered: (number | null)[] = [];
  const slept: number[] = [];
  let attempts = 1;
  const running = retryAfter(
    new Error('attempt 1'),
    async () => {
      attempts += 1;
      if (attempts <= times) throw new Error(`attempt ${attempts}`);
      return `attempt ${attempts}`;
    },
    {
      backoff: { ...BACKOFF, ...rules.backoff },
      pauseAfter(_error, delay) {
        offered.push(delay);
        return offered.length === rules.last ? null : delay;
      },
      sleep: async (ms) => void slept.push(ms),
    },
  );
  return { running, offered, slept };
}

describe('retry', () => {
  it('resolves with the first success', async () => {
    const { running, offered } = failing(2);
    expect(await running).toBe('attempt 3');
    expect(offered).toHaveLength(2);
  });

  it('doubles the pauses up to their bound, half of each at random', async () => {
    const most = failing(9, { backoff: { random: () => 1 } });
    await expect(most.running).rejects.toThrow('attempt 5');
    expect(most.slept).toEqual([100, 200, 400, 500]);
    const least = failing(9, { backoff: { random: () => 0 } });
    await expect(least.running).rejects.toThrow('attempt 5');
    expect(least.slept).toEqual([50, 100, 200, 250]);
  });

  it('offers no pause once all attempts are spent, and rejects with the last error', async () => {
    const { running, offered } = failing(9, { backoff: { retries: 1 } });
    await expect(running).rejects.toThrow('attempt 2');
    expect(offered).toEqual([75, null]);
  });

  it('ends with the error that its caller gives up on', async () => {
    const { running, slept } = failing(9, { last: 2 });
    await expect(running).rejects.toThrow('attempt 2');
    expect(slept).toEqual([75]);
  });

  it('makes no further attempt once a pause was aborted', async () => {
    const stop = new AbortController();
    let attempts = 0;
    const running = retryAfter(
      new Error('failed'),
      async () => {
        attempts += 1;
        throw new Error('failed');
      },
      {
        backoff: BACKOFF,
        pauseAfter: (_error, delay) => delay,
        sleep: async (_ms, signal) => {
          stop.abort(new Error('stopped'));
          signal?.throwIfAborted();
        },
        signal: stop.signal,
      },
    );
    await expect(running).rejects.toThrow('stopped');
    expect(attempts).toBe(0);
  });
});
