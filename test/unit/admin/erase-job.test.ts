import { describe, expect, it } from '@jest/globals';
import { eraseJob } from '../../../src/admin/erase-job.js';
import { erasureKey } from '../../../src/archive/layout.js';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { createMemoryStore } from '../../support/memory-store.js';

const ORDER = { actor: 'tester', reason: null };

function ledger() {
  const lines: LedgerLine[] = [];
  return { lines, append: async (line: LedgerLine) => void lines.push(line) };
}

describe('erasing a job', () => {
  it('also erases what is stored meanwhile, and marks the job before anything goes', async () => {
    let late = 2;
    const store = createMemoryStore((operation, key) => {
      if (operation !== 'delete' || late === 0) return;
      expect(store.objects.has(erasureKey('j1'))).toBe(true);
      late -= 1;
      store.put(`${key}.late${late}`, 'x');
    });
    store.put('jobs/j1/transcript.json', 'x');
    store.put('jobs/j10/transcript.json', 'x');
    const { lines, append } = ledger();
    const result = await eraseJob({ store, keyPrefixes: ['', ''], ledger: { append } }, 'j1', ORDER);
    expect([...store.objects.keys()].toSorted()).toEqual([erasureKey('j1'), 'jobs/j10/transcript.json']);
    expect(result.erased).toEqual({ artefacts: 3, conflicts: 0, quarantined: 0, bytes: 3 });
    expect(lines).toEqual([expect.objectContaining({ outcome: 'erased', jobId: 'j1', bytes: 3 })]);
  });

  it('does not go on for ever against a writer that never stops, and does not claim to be done', async () => {
    let written = 0;
    const store = createMemoryStore((operation) => {
      if (operation === 'delete') store.put(`jobs/j1/attachments/${++written}`, 'x');
    });
    store.put('jobs/j1/data', 'x');
    const { lines, append } = ledger();
    const erasing = eraseJob({ store, keyPrefixes: [''], ledger: { append } }, 'j1', ORDER);
    await expect(erasing).rejects.toThrow(/written to all the time/);
    expect(lines).toEqual([]);
  });
});
