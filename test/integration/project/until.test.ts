import { expect, it, jest } from '@jest/globals';
import { until } from '../../support/until.js';

const JEST = jest.requireActual<{ default: { testTimeout: number } }>('../../../jest.config.js').default;

it('a wait in vain names its condition before the test times out, so that the test still stops what it started', async () => {
  jest.useFakeTimers();
  const waits = expect(until(() => JEST.testTimeout === 0)).rejects.toThrow(/testTimeout === 0/);
  await jest.advanceTimersByTimeAsync(JEST.testTimeout);
  jest.useRealTimers();
  await waits;
});
