import { describe, expect, it } from '@jest/globals';
import { createArchive } from '../../../../src/archive/archive.js';
import { type CapturedFile, SessionDelivery } from '../../../../src/cli/capture/session-delivery.js';
import { createLedger } from '../../../../src/ledger/write/ledger.js';
import { createBufferPool } from '../../../../src/lib/memory/buffer-pool.js';
import { ByteBudget } from '../../../../src/lib/memory/byte-budget.js';
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
  status: 'success',
  reason: null,
  finishedAt: '2026-01-02T03:05:05.678Z',
  bytes: 10,
} as const;

function captureInto(before: BeforeCall, recording: { fileName: string | null } | null) {
  const store = createMemoryStore(before);
  const ledger = createLedger({ store, replica: 'test' });
  const budget = new ByteBudget({ total: 8 * store.partSize, reserve: store.partSize });
  const pool = createBufferPool({ largest: store.partSize, most: 0 });
  const archive = createArchive({ store, budget, pool });
  return {
    store,
    ledger,
    budget,
    capture: new SessionDelivery({ archive, ledger }, CONTEXT, recording),
  };
}

const fails = (operation: string): never => {
  throw new StoreError(operation, 'the network is down');
};

describe('a captured delivery', () => {
  it('stores transcripts and audio, large audio as a stream, and gives all memory back', async () => {
    const { store, budget, capture } = captureInto(() => undefined, { fileName: 'talk.wav' });
    const chunk = Buffer.alloc(store.partSize, 7);
    for (let part = 0; part < 3; part += 1) await capture.keepAudio(chunk);
    const line = await capture.finish(FILES, END);
    expect(line.items.map(({ key, size }) => [key, size])).toEqual([
      ['jobs/session-1/transcript.txt', 7],
      ['jobs/session-1/data', 3 * store.partSize],
    ]);
    expect(store.objects.get('jobs/session-1/data')?.headers.metadata).toMatchObject({
      origin: 'realtime',
      'file-name': 'talk.wav',
    });
    expect([capture.audioLost, budget.used]).toEqual([false, 0]);
  });

  it('drops the audio, not the transcript, when the store rejects the audio', async () => {
    const down: BeforeCall = (operation, key) => (key.endsWith('/data') ? fails(operation) : undefined);
    const { store, budget, capture } = captureInto(down, { fileName: null });
    for (let part = 0; part < 3; part += 1) await capture.keepAudio(Buffer.alloc(store.partSize));
    const line = await capture.finish(FILES, END);
    expect(line.items.map(({ kind }) => kind)).toEqual(['transcript.txt']);
    expect([capture.audioLost, budget.used]).toEqual([true, 0]);
  });

  it('says so when the transcript cannot be stored', async () => {
    const { budget, capture } = captureInto(fails, { fileName: null });
    await capture.keepAudio(Buffer.alloc(100));
    await expect(capture.finish(FILES, END)).rejects.toThrow(StoreError);
    expect(budget.used).toBeGreaterThan(0);
    await capture.discard();
    expect(budget.used).toBe(0);
  });
});
