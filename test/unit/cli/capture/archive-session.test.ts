import { describe, expect, it } from '@jest/globals';
import { createArchive } from '../../../../src/archive/archive.js';
import { archiveSession, type CapturedFile } from '../../../../src/cli/capture/archive-session.js';
import { createLedger } from '../../../../src/ledger/write/ledger.js';
import { createBufferPool } from '../../../../src/lib/memory/buffer-pool.js';
import { ByteBudget } from '../../../../src/lib/memory/byte-budget.js';
import type { SessionReport } from '../../../../src/speech/realtime/session/session-report.js';
import { StoreError } from '../../../../src/store/object-store.js';
import { type BeforeCall, createMemoryStore } from '../../../support/store/memory-store.js';

const CONTEXT = {
  deliveryId: '01JZZZZZZZZZZZZZZZZZZZZZZZ',
  jobId: 'session-1',
  source: 'default',
  region: 'eu1',
  origin: 'realtime',
  receivedAt: '2026-01-02T03:04:05.678Z',
  keyPrefix: '',
} as const;
const FILES: readonly CapturedFile[] = [
  { kind: 'transcript.txt', contentType: 'text/plain; charset=utf-8', content: 'Hello.\n' },
];
const END = {
  report: { acknowledged: { frames: 1, bytes: 10, seconds: null } } as SessionReport,
  ...{ reason: null, detail: null, finishedAt: '2026-01-02T03:05:05.678Z' },
};

function captureInto(before: BeforeCall) {
  const store = createMemoryStore(before);
  const ledger = createLedger({ store, replica: 'test' });
  const budget = new ByteBudget({ total: 8 * store.partSize, reserve: store.partSize });
  const pool = createBufferPool({ largest: store.partSize, most: 0 });
  const archive = createArchive(store, budget, pool);
  return { store, budget, line: () => archiveSession(archive, ledger, CONTEXT, FILES, END) };
}

describe('a captured session', () => {
  it('is stored with its transcripts, and gives all memory back', async () => {
    const { store, budget, line } = captureInto(() => undefined);
    expect((await line()).items.map(({ key, size }) => [key, size])).toEqual([
      ['jobs/session-1/transcript.txt', 7],
    ]);
    expect(store.objects.get('jobs/session-1/transcript.txt')?.headers.metadata).toMatchObject({
      origin: 'realtime',
    });
    expect(budget.used).toBe(0);
  });

  it('says so when the transcript cannot be stored, and gives all memory back', async () => {
    const { budget, line } = captureInto((operation) => {
      throw new StoreError(operation, 'the network is down');
    });
    await expect(line()).rejects.toThrow(StoreError);
    expect(budget.used).toBe(0);
  });
});
