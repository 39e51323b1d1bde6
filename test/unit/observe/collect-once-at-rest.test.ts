import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AT_REST, collectOnceAtRest, WINDOW } from '../../../src/observe/collect-once-at-rest.js';

describe('the collection of a replica at rest', () => {
  const { gc } = globalThis;
  let collections: number;

  beforeEach(() => {
    jest.useFakeTimers();
    collections = 0;
    globalThis.gc = ((options?: NodeJS.GCOptions) => {
      if (options === undefined) collections++;
    }) as NodeJS.GCFunction;
  });

  afterEach(() => {
    jest.useRealTimers();
    globalThis.gc = gc;
  });

  it('waits for a window without load, and runs once', () => {
    const windows = [1, AT_REST + 0.01, AT_REST, 0];
    collectOnceAtRest(() => windows.shift() ?? 0);
    jest.advanceTimersByTime(2 * WINDOW);
    expect(collections).toBe(0);
    jest.advanceTimersByTime(WINDOW);
    expect(collections).toBe(1);
    jest.advanceTimersByTime(10 * WINDOW);
    expect(collections).toBe(1);
  });

  it('does not run while the event loop works', () => {
    collectOnceAtRest();
    for (let n = 0; n < 1e6; n++);
    jest.advanceTimersByTime(WINDOW);
    expect(collections).toBe(0);
  });

  it('does not take place without --expose-gc', () => {
    globalThis.gc = undefined;
    collectOnceAtRest(() => 0);
    expect(jest.getTimerCount()).toBe(0);
  });
});
