import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createPace, type Pace } from '../../../../src/archive/ledger/ledger-pace.js';

describe('ledger pace', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** How long a flush waits, in milliseconds. */
  async function waits(pace: Pace, waiting: number): Promise<number> {
    const started = Date.now();
    const gathered = pace.gather(waiting).then(() => Date.now() - started);
    await jest.runAllTimersAsync();
    return gathered;
  }

  it('never keeps a lone delivery waiting', async () => {
    const pace = createPace(20);
    expect(await waits(pace, 1)).toBe(0);
    pace.wrote(1, 40);
    expect(await waits(pace, 1)).toBe(0);
  });

  it('waits a third of a write for company under load, within its bound', async () => {
    const pace = createPace(20);
    pace.wrote(10, 30);
    expect(await waits(pace, 5)).toBe(10);
    const slow = createPace(20);
    slow.wrote(10, 1000);
    expect(await waits(slow, 5)).toBe(20);
  });

  it('goes at once when the segment is well filled', async () => {
    const pace = createPace(20);
    pace.wrote(10, 40);
    expect(await waits(pace, 24)).toBe(0);
  });

  it.each([
    ['enough lines have arrived', (pace: Pace) => pace.arrived(24)],
    ['the ledger is closed', (pace: Pace) => pace.hurry()],
  ])('ends its wait when %s', async (_name, end) => {
    const pace = createPace(20);
    pace.wrote(10, 40);
    const gathered = pace.gather(5);
    pace.arrived(6);
    expect(jest.getTimerCount()).toBe(1);
    end(pace);
    await gathered;
    expect(jest.getTimerCount()).toBe(0);
  });
});
