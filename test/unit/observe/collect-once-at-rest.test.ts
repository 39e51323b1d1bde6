import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AT_REST, collectOnceAtRest, WINDOW } from '../../../src/observe/collect-once-at-rest.js';

describe('the collection of a replica at rest', () => {
  const { gc } = globalThis;
  let collections: (NodeJS.GCOptions | undefined)[];

  beforeEach(() => {
    jest.useFakeTimers();
    collections = [];
    globalThis.gc = ((options?: NodeJS.GCOptions) => void collections.push(options)) as NodeJS.GCFunction;
  });

  afterEach(() => {
    jest.useRealTimers();
    globalThis.gc = gc;
  });

  it('waits for a window without load, and runs once', () => {
    const windows = [1, AT_REST + 0.01, AT_REST, 0];
    collectOnceAtRest(() => windows.shift() ?? 0);
    jest.advanceTimersByTime(2 * WINDOW);
    expect(collections).toEqual([]);
    jest.advanceTimersByTime(WINDOW);
    // Node 20 takes any options for those of a minor collection; Node 24 returns the pages in the second one only.
    expect(collections).toEqual([undefined, expect.objectContaining({ flavor: 'last-resort' })]);
    jest.advanceTimersByTime(10 * WINDOW);
    expect(collections).toHaveLength(2);
  });

  it('does not run while the event loop works', () => {
    collectOnceAtRest();
    for (let n = 0; n < 1e6; n++);
    jest.advanceTimersByTime(WINDOW);
    expect(collections).toEqual([]);
  });

  it('does not take place without --expose-gc', () => {
    globalThis.gc = undefined;
    collectOnceAtRest(() => 0);
    expect(jest.getTimerCount()).toBe(0);
  });
});
