import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createFlushPacer, type FlushPacer } from '../../../../src/archive/ledger/flush-pacer.js';

describe('the pacer of ledger flushes', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** How long a flush waits, in milliseconds. */
  async function waits(pacer: FlushPacer, waiting: number): Promise<number> {
    const started = Date.now();
    const gathered = pacer.waitForLines(waiting).then(() => Date.now() - started);
    await jest.runAllTimersAsync();
    return gathered;
  }

  it('never makes a lone delivery wait', async () => {
    const pacer = createFlushPacer(20);
    expect(await waits(pacer, 1)).toBe(0);
    pacer.wrote(1, 40);
    expect(await waits(pacer, 1)).toBe(0);
  });

  it('waits a third of a write for further lines under load, within its bound', async () => {
    const pacer = createFlushPacer(20);
    pacer.wrote(10, 30);
    expect(await waits(pacer, 5)).toBe(10);
    const slow = createFlushPacer(20);
    slow.wrote(10, 1000);
    expect(await waits(slow, 5)).toBe(20);
  });

  it('does not wait when the segment is well filled', async () => {
    const pacer = createFlushPacer(20);
    pacer.wrote(10, 40);
    expect(await waits(pacer, 24)).toBe(0);
  });

  it.each([
    ['enough lines have arrived', (pacer: FlushPacer) => pacer.arrived(24)],
    ['the ledger is closed', (pacer: FlushPacer) => pacer.cancelWait()],
  ])('ends its wait when %s', async (_name, end) => {
    const pacer = createFlushPacer(20);
    pacer.wrote(10, 40);
    const gathered = pacer.waitForLines(5);
    pacer.arrived(6);
    expect(jest.getTimerCount()).toBe(1);
    end(pacer);
    await gathered;
    expect(jest.getTimerCount()).toBe(0);
  });
});
