import { expect, it } from '@jest/globals';
import { eraseJobs } from '../../../../../src/operations/actions/erase/erase-jobs.js';
import { createMemoryStore } from '../../../../support/store/memory-store.js';

it('an erasure of many begins no further one once it is stopped', async () => {
  const parts = { store: createMemoryStore(), keyPrefixes: [''], view: null as never, ledger: null as never };
  const job = { jobId: 'j1', state: 'known', erasure: null } as never;
  const order = { jobs: [job], audit: { actor: 'anna', reason: null }, signal: AbortSignal.abort() };
  const lines: unknown[] = [];
  await eraseJobs(parts, order, (line) => void lines.push(line));
  expect(lines).toEqual([{ jobId: 'j1', error: 'the erasure was stopped' }]);
});
