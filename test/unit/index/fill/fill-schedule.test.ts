import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { FillSchedule } from '../../../../src/index/fill/fill-schedule.js';

let passed: number;

beforeEach(() => {
  passed = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => passed);
});
afterEach(() => {
  jest.restoreAllMocks();
});

it('says of a store that neither answers nor fails that the ledger was not read, a minute after the next read was due', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const schedule = new FillSchedule({ addNew: () => promise, async *addOlder() {} }, Date.now);
  schedule.start();
  passed = 89_999;
  expect(schedule.status().error).toBeNull();
  passed = 90_000;
  const overdue = { error: 'it was not read for 90 s', fault: 'store', condition: 'unreachable' };
  expect(schedule.status()).toMatchObject(overdue);
  resolve();
  await schedule.stop();
});

it('reads what is new between older hours also after the clock was set back', async () => {
  let now = Date.parse('2026-03-04T05:06:07Z');
  const steps: string[] = [];
  const filler = {
    async addNew() {
      steps.push('new');
    },
    async *addOlder() {
      for (const hour of ['an hour', 'another hour']) {
        steps.push(hour);
        now -= 86_400_000;
        passed += 30_000;
        yield;
      }
    },
  };
  await new FillSchedule(filler, () => now).untilComplete();
  expect(steps).toEqual(['new', 'an hour', 'new', 'another hour', 'new']);
});
