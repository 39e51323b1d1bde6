import { expect, it } from '@jest/globals';
import type { IndexCalls } from '../../../../src/index/index-calls.js';
import { createSentQuestions } from '../../../../src/index/sent/sent-questions.js';

const QUERY = { events: ['job.stored'], sources: [], before: 0, hours: {} };

it('counts what waits for a subscriber each time while that is little, and the more rarely the more it is', async () => {
  let now = 0;
  let events = 49;
  let asked = 0;
  const calls = {
    async call() {
      asked += 1;
      return [{ source: null, events, oldest: 0 }];
    },
  } as unknown as IndexCalls;
  const { untried: behind } = createSentQuestions(calls, () => now);
  const count = async (subscriber = 'crm') =>
    (await behind({ ...QUERY, subscriber })).map((each) => each.events);
  expect(await count()).toEqual([49]);
  events = 500;
  expect(await count()).toEqual([500]);
  events = 600;
  now += 9;
  expect([await count(), await count('other')]).toEqual([[500], [600]]);
  now += 1;
  expect(await count()).toEqual([600]);
  expect(asked).toBe(4);
});
