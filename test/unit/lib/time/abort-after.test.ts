import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { abortAfter } from '../../../../src/lib/time/abort-after.js';

const untilAborted = (bounded: AbortSignal) =>
  new Promise<never>((_, reject) => bounded.addEventListener('abort', () => reject(bounded.reason)));

describe('work with a bounded signal', () => {
  it('is aborted as the given signal says, or when its time is over', async () => {
    const stopping = new AbortController();
    const stopped = abortAfter(60_000, stopping.signal, untilAborted);
    stopping.abort('stopped');
    await expect(stopped).rejects.toBe('stopped');
    await expect(abortAfter(60_000, stopping.signal, untilAborted)).rejects.toBe('stopped');
    await expect(abortAfter(1, new AbortController().signal, untilAborted)).rejects.toMatchObject({
      name: 'TimeoutError',
    });
  });

  it('leaves nothing on the given signal', async () => {
    const { signal } = new AbortController();
    const during = await abortAfter(60_000, signal, async () => getEventListeners(signal, 'abort').length);
    expect([during, getEventListeners(signal, 'abort').length]).toEqual([1, 0]);
  });
});
