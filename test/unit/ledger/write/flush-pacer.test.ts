import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createFlushPacer, type FlushPacer } from '../../../../src/ledger/write/flush-pacer.js';

describe('the pacer of ledger flushes', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const inMs = (milliseconds: number) => performance.now() + milliseconds;

  /** How long a flush waits, in milliseconds. */
  async function waits(pacer: FlushPacer, waiting: number, due = 0): Promise<number> {
    const started = performance.now();
    const gathered = pacer.waitForLines(waiting, inMs(due)).then(() => performance.now() - started);
    await jest.runAllTimersAsync();
    return gathered;
  }

  it('never makes a lone delivery wait', async () => {
    const pacer = createFlushPacer();
    expect(await waits(pacer, 1)).toBe(0);
    pacer.wrote(1, 40);
    expect(await waits(pacer, 1)).toBe(0);
  });

  it('waits a third of a write for further lines under load, within its bound', async () => {
    const pacer = createFlushPacer();
    pacer.wrote(10, 30);
    expect(await waits(pacer, 5)).toBe(10);
    const slow = createFlushPacer();
    slow.wrote(10, 1000);
    expect(await waits(slow, 5)).toBe(20);
  });

  it.each([
    [1.2, 0],
    [1.8, 1],
  ])('after a write of %p ms starts %p timers', async (write, timers) => {
    const pacer = createFlushPacer();
    pacer.wrote(10, write);
    const gathered = pacer.waitForLines(5, inMs(0));
    expect(jest.getTimerCount()).toBe(timers);
    pacer.cancelWait();
    await gathered;
  });

  it('does not wait when the segment is well filled', async () => {
    const pacer = createFlushPacer();
    pacer.wrote(10, 40);
    expect(await waits(pacer, 24)).toBe(0);
  });

  it.each([
    ['enough lines have arrived', (pacer: FlushPacer) => pacer.arrived(24, inMs(0))],
    ['the ledger is closed', (pacer: FlushPacer) => pacer.cancelWait()],
  ])('ends its wait when %s', async (_name, end) => {
    const pacer = createFlushPacer();
    pacer.wrote(10, 40);
    const gathered = pacer.waitForLines(5, inMs(0));
    pacer.arrived(6, inMs(0));
    expect(jest.getTimerCount()).toBe(1);
    end(pacer);
    await gathered;
    expect(jest.getTimerCount()).toBe(0);
  });

  describe('where lines linger', () => {
    const create = () => createFlushPacer(100);

    it('waits until the first line is due, also a lone one, and no longer', async () => {
      const pacer = create();
      expect(await waits(pacer, 1, 200)).toBe(200);
      expect(await waits(pacer, 1, -50)).toBe(0);
      pacer.wrote(10, 30);
      expect(await waits(pacer, 40, 4)).toBe(10);
    });

    it('does not wait when the segment is full', async () => {
      expect(await waits(create(), 99, 200)).toBe(200);
      expect(await waits(create(), 100, 200)).toBe(0);
    });

    it.each([
      ['the segment is full', (pacer: FlushPacer) => pacer.arrived(100, inMs(200))],
      ['a line arrives that must not wait', (pacer: FlushPacer) => pacer.arrived(2, inMs(0))],
      ['the ledger is closed', (pacer: FlushPacer) => pacer.cancelWait()],
    ])('ends its wait when %s', async (_name, end) => {
      const pacer = create();
      const gathered = pacer.waitForLines(1, inMs(200));
      pacer.arrived(99, inMs(200));
      expect(jest.getTimerCount()).toBe(1);
      end(pacer);
      await gathered;
      expect(jest.getTimerCount()).toBe(0);
    });
  });
});
