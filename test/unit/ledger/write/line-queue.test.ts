import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createLineQueue } from '../../../../src/ledger/write/line-queue.js';

type Queue = ReturnType<typeof createLineQueue>;

describe('lines that wait for a segment', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** @param due milliseconds from now */
  function add(queue: Queue, lines: number, due = 0): void {
    const dueAt = performance.now() + due;
    for (let n = 0; n < lines; n += 1) queue.add({ text: '', bytes: 1, dueAt });
  }

  function queueOf({ lines = 0, due = 0, fullSegment = null as number | null, lastWrite = 0 } = {}): Queue {
    const queue = createLineQueue(1000, fullSegment);
    if (lastWrite > 0) queue.noteWrite(10, lastWrite);
    add(queue, lines, due);
    return queue;
  }

  /** How long a segment waits for further lines, in milliseconds. */
  async function waits(queue: Queue): Promise<number> {
    const started = performance.now();
    const gathered = queue.untilReady().then(() => performance.now() - started);
    await jest.runAllTimersAsync();
    return gathered;
  }

  it('never makes a lone delivery wait', async () => {
    const queue = queueOf({ lines: 1 });
    expect(await waits(queue)).toBe(0);
    queue.noteWrite(1, 40);
    expect(await waits(queue)).toBe(0);
  });

  it('waits a third of a write for further lines under load, within its bounds', async () => {
    expect(await waits(queueOf({ lines: 5, lastWrite: 30 }))).toBe(10);
    expect(await waits(queueOf({ lines: 5, lastWrite: 0.6 }))).toBe(1);
    expect(await waits(queueOf({ lines: 5, lastWrite: 1000 }))).toBe(20);
  });

  it('does not wait when the segment is well filled', async () => {
    expect(await waits(queueOf({ lines: 24, lastWrite: 40 }))).toBe(0);
  });

  it.each([
    ['enough lines have arrived', (queue: Queue) => add(queue, 18)],
    ['the ledger is closed', (queue: Queue) => queue.endWait()],
  ])('ends its wait when %s', async (_name, end) => {
    const queue = queueOf({ lines: 5, lastWrite: 40 });
    const gathered = queue.untilReady();
    add(queue, 1);
    expect(jest.getTimerCount()).toBe(1);
    end(queue);
    await gathered;
    expect(jest.getTimerCount()).toBe(0);
  });

  describe('where lines linger', () => {
    const fullSegment = 100;

    it('waits until the first line is due, also a lone one, and no longer', async () => {
      expect(await waits(queueOf({ fullSegment, lines: 1, due: 200 }))).toBe(200);
      expect(await waits(queueOf({ fullSegment, lines: 1, due: -50 }))).toBe(0);
      expect(await waits(queueOf({ fullSegment, lines: 40, due: 4, lastWrite: 30 }))).toBe(10);
    });

    it('does not wait when the segment is full', async () => {
      expect(await waits(queueOf({ fullSegment, lines: 99, due: 200 }))).toBe(200);
      expect(await waits(queueOf({ fullSegment, lines: 100, due: 200 }))).toBe(0);
    });

    it.each([
      ['the segment is full', (queue: Queue) => add(queue, 2, 200)],
      ['a line arrives that must not wait', (queue: Queue) => add(queue, 1)],
      ['the ledger is closed', (queue: Queue) => queue.endWait()],
    ])('ends its wait when %s', async (_name, end) => {
      const queue = queueOf({ fullSegment, lines: 1, due: 200 });
      const gathered = queue.untilReady();
      add(queue, 97, 200);
      expect(jest.getTimerCount()).toBe(1);
      end(queue);
      await gathered;
      expect(jest.getTimerCount()).toBe(0);
    });
  });
});
