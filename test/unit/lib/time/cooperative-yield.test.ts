import { describe, expect, it } from '@jest/globals';
import { backgroundYield, cooperativeYield, type Pause } from '../../../../src/lib/time/cooperative-yield.js';

function work(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

async function turnsDuring(pause: Pause, steps: number): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  for (let step = 0; step < steps; step += 1) {
    work(2);
    await pause();
  }
  isDone = true;
  return turns;
}

describe('cooperativeYield', () => {
  it('gives other callbacks a turn during long work', async () => {
    expect(await turnsDuring(cooperativeYield(2), 5)).toBeGreaterThanOrEqual(4);
  });

  it('costs no turn during short work', async () => {
    expect(await turnsDuring(cooperativeYield(60_000), 5)).toBe(0);
  });
});

describe('backgroundYield', () => {
  it('waits until the process is no longer busy', async () => {
    let asked = 0;
    const isBusy = () => {
      asked += 1;
      return asked < 3;
    };
    const pause = backgroundYield(isBusy, new AbortController().signal, 0);
    await pause();
    expect(asked).toBe(3);
  });

  it('stops waiting when the signal aborts', async () => {
    const stopping = new AbortController();
    const pause = backgroundYield(() => true, stopping.signal, 0);
    const waiting = pause();
    stopping.abort();
    await waiting;
    expect(stopping.signal.aborted).toBe(true);
  });
});
