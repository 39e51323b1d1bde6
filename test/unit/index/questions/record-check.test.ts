import { expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { createRecordCheck } from '../../../../src/index/questions/record-check.js';
import { storedLine } from '../../../support/outbox/subscribed.js';

it('a line that the index has is found without a listing, and a newer one by reading on', async () => {
  const [old, recent] = [storedLine(), storedLine()];
  let indexed: LedgerLine[] = [old];
  let reads = 0;
  const isRecorded = createRecordCheck(
    {
      async refresh() {
        reads += 1;
        indexed = [old, recent];
      },
      async *lines() {
        yield indexed;
      },
    },
    1000,
  );
  expect([await isRecorded(old), reads]).toEqual([true, 0]);
  expect([await isRecorded(recent), reads]).toEqual([true, 1]);
  expect(await isRecorded(storedLine())).toBe(false);
});
