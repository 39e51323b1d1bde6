import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { createLedgerView } from '../../../../../src/ledger/read/ledger-view.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../../support/ledger/ledger-segments.js';
import { createMemoryStore } from '../../../../support/store/memory-store.js';

it('covers the lines that memory loaded after the failures before them were read', async () => {
  let now = Date.parse('2026-03-04T12:30:00.000Z');
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const store = createMemoryStore(
    (_, key) => (key.endsWith('one~00000001.ndjson') ? answered : undefined),
    () => now,
  );
  const put = (jobId: string) => {
    const receivedAt = new Date(now).toISOString();
    putSegment(store, receivedAt, [ledgerLine({ jobId, receivedAt, outcome: 'failed' })], 'one');
  };
  put('before');
  const view = createLedgerView({ store, clock: () => now });
  view.start();
  await view.readPast();
  now += 1000;
  put('after');
  await view.refresh();
  expect(await view.openFailures({ limit: 10 })).toMatchObject({ complete: false });
  answer();
  while (view.status().state === 'loading') await turn();
  await view.readPast();
  const { failures, complete, faults } = await view.openFailures({ limit: 10 });
  await view.stop();
  expect(failures.map(({ jobId }) => jobId).sort()).toEqual(['after', 'before']);
  expect({ complete, faults }).toEqual({ complete: true, faults: [] });
});
