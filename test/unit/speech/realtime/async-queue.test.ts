import { describe, expect, it } from '@jest/globals';
import { AsyncQueue } from '../../../../src/speech/realtime/async-queue.js';

async function collect<T>(feed: AsyncQueue<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of feed) values.push(value);
  return values;
}

describe('a feed', () => {
  it('hands over what waited and what comes, then ends', async () => {
    const feed = new AsyncQueue<number>();
    feed.push(1);
    const reading = collect(feed);
    feed.push(2);
    feed.close();
    feed.push(3);
    expect(await reading).toEqual([1, 2]);
  });

  it('throws its error after what waited', async () => {
    const feed = new AsyncQueue<number>();
    feed.push(1);
    feed.close(new Error('cut'));
    expect(await feed.next()).toEqual({ done: false, value: 1 });
    await expect(feed.next()).rejects.toThrow('cut');
  });

  it('replaces waiting values that are superseded', async () => {
    const feed = new AsyncQueue<string>({ supersedes: (_later, waiting) => waiting.startsWith('partial') });
    for (const value of ['partial 1', 'partial 2', 'final', 'partial 3']) feed.push(value);
    feed.close();
    expect(await collect(feed)).toEqual(['final', 'partial 3']);
  });

  it('serves readers that wait at the same time in their order', async () => {
    const feed = new AsyncQueue<number>();
    const readers = [feed.next(), feed.next(), feed.next()];
    feed.push(1);
    feed.push(2);
    feed.close();
    expect(await Promise.all(readers)).toEqual([
      { done: false, value: 1 },
      { done: false, value: 2 },
      { done: true, value: undefined },
    ]);
  });

  it('calls back when its reader returns early', async () => {
    let left = false;
    const feed = new AsyncQueue<number>({
      onReturn: () => {
        left = true;
      },
    });
    feed.push(1);
    for await (const _value of feed) break;
    expect(left).toBe(true);
  });
});
