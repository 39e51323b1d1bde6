import { expect, it } from '@jest/globals';
import { FillSchedule } from '../../../../src/index/fill/fill-schedule.js';

it('says of a store that neither answers nor fails that the ledger was not read, a minute after the next read was due', async () => {
  let now = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const schedule = new FillSchedule({ takeNew: () => promise, async *older() {} }, () => now);
  schedule.start();
  now = 89_999;
  expect(schedule.status().error).toBeNull();
  now = 90_000;
  const overdue = { error: 'it was not read for 90 s', fault: 'store', condition: 'unreachable' };
  expect(schedule.status()).toMatchObject(overdue);
  resolve();
  await schedule.stop();
});
