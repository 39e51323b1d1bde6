import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { pageModule } from '../../../../../support/dashboard/page-module.js';

const { poll } = pageModule('lib/screen/poll');
const ending = new AbortController();

beforeEach(() => {
  jest.useFakeTimers();
  Object.assign(globalThis, { document: Object.assign(new EventTarget(), { hidden: false }) });
});
afterEach(() => {
  ending.abort();
  jest.useRealTimers();
  Reflect.deleteProperty(globalThis, 'document');
});

it('asks again half a minute after a failure at the latest', async () => {
  let asked = 0;
  poll(
    6000,
    () => {
      asked += 1;
      return Promise.resolve(false);
    },
    ending.signal,
  );
  await jest.advanceTimersByTimeAsync(12_000 + 24_000);
  expect(asked).toBe(3);
  await jest.advanceTimersByTimeAsync(30_000);
  expect(asked).toBe(4);
});
