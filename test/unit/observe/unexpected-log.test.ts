import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createUnexpectedLog } from '../../../src/observe/unexpected-log.js';

describe('unexpected errors', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('are logged at a bounded rate, and the rest is counted', () => {
    const lines: unknown[] = [];
    const log = createUnexpectedLog({ error: (fields: object) => void lines.push(fields) });
    const error = new Error('a bug');
    for (let n = 0; n < 1000; n += 1) log.unexpected(error);
    expect(lines).toEqual(Array.from({ length: 5 }, () => ({ event: 'unexpected', err: error })));
    jest.advanceTimersByTime(1000);
    expect(lines.at(-1)).toEqual({ event: 'unexpected-suppressed', count: 995 });
    log.unexpected(error);
    expect(lines).toHaveLength(7);
    log.close();
    expect(jest.getTimerCount()).toBe(0);
  });
});
