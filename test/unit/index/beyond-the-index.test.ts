import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { indexInThread } from '../../../src/index/fill/index-in-thread.js';
import { createLedgerView, type LedgerView } from '../../../src/index/ledger-view.js';
import { lastArrival } from '../../../src/recovery/reconcile/fetch/claim-end.js';
import { isErasedInLedger } from '../../../src/recovery/reconcile/was-erased.js';
import { StoreError } from '../../../src/store/object-store.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { putSegment } from '../../support/ledger/ledger-segments.js';
import { createMemoryStore, type MemoryStore } from '../../support/store/memory-store.js';

const DAY = 86_400_000;

describe('what an index does not have', () => {
  let now: number;
  let isDown: boolean;
  let store: MemoryStore;
  let view: LedgerView;

  beforeEach(() => {
    now = Date.parse('2026-03-31T12:00:00.000Z');
    isDown = false;
    store = createMemoryStore(
      () => {
        if (isDown) throw new StoreError('test', 'connection reset');
      },
      () => now,
    );
    view = createLedgerView({
      store,
      clock: () => now,
      startIndex: indexInThread,
      reach: 2 * DAY,
      retention: 7 * DAY,
    });
  });
  afterEach(() => view.stop());

  function write(receivedAt: string, fields: Partial<Parameters<typeof ledgerLine>[0]>): string {
    return putSegment(store, receivedAt, [ledgerLine({ receivedAt, ...fields })]);
  }

  it('are lines whose segment is gone since it was read: answers name it, and an act on a selection is refused', async () => {
    const key = write('2026-03-31T05:00:00.000Z', { jobId: 'job', outcome: 'failed' });
    write('2026-03-31T06:00:00.000Z', { jobId: 'other' });
    await view.refresh();
    store.objects.delete(key);
    const missing = [{ key, segments: 1, unreadable: null }];
    expect(await view.deliveries()).toMatchObject({ deliveries: [{ jobId: 'other' }], index: { missing } });
    expect(await view.openFailures({ limit: 10 })).toMatchObject({ failures: [], index: { missing } });
    store.put(key, 'torn\n');
    expect(await view.deliveries()).toMatchObject({ index: { missing: [{ key, unreadable: 1 }] } });
    const selected = async () => {
      for await (const _lines of view.lines({ since: '2026-03-31' }));
    };
    await expect(selected()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(key),
    });
  });

  it('is what was written since the store can be read no more: an act that reaches there is refused', async () => {
    write('2026-03-31T05:00:00.000Z', {});
    await view.refresh();
    isDown = true;
    now += 3_600_000;
    const range = { since: '2026-03-30', until: '2026-03-31T11:00:00.000Z' };
    await view.requireReach(range);
    await expect(view.requireReach({ since: range.since })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('after 2026-03-31T12:00:00.000Z'),
    });
  });

  it('is awaited while the index is being built, and an erasure that it has is asked of it alone', async () => {
    write('2026-03-31T05:00:00.000Z', { jobId: 'erased', outcome: 'erased', origin: 'replay', source: null });
    const isErased = (job: string, since: string) => isErasedInLedger({ store, view }, job, since);
    expect(await isErased('erased', '2026-03-31T05:00:00.000Z')).toBe(true);
    expect(view.extent().until).not.toBeNull();
    store.objects.clear();
    expect(await isErased('erased', '2026-03-31T05:00:00.000Z')).toBe(true);
    expect(await isErased('erased', '2026-03-31T06:00:00.000Z')).toBe(false);
    expect(await isErased('other', '2026-03-31T05:00:00.000Z')).toBe(false);
  });

  it('is an erasure or an arrival before it begins: reconcile and import read the log', async () => {
    write('2026-03-27T05:00:00.000Z', { jobId: 'erased', outcome: 'erased', origin: 'replay', source: null });
    write('2026-03-27T06:00:00.000Z', { jobId: 'arrived', outcome: 'stored', source: 'intake' });
    write('2026-03-31T05:00:00.000Z', {});
    await view.refresh();
    const since = '2026-03-26T00:00:00.000Z';
    expect((await view.deliveries({ job: 'erased' })).deliveries).toEqual([]);
    expect(await isErasedInLedger({ store, view }, 'erased', since)).toBe(true);
    expect(await isErasedInLedger({ store, view }, 'arrived', since)).toBe(false);
    const job = (jobId: string) => ({ jobId, source: 'intake', createdAt: since });
    const parts = { store, view, clock: () => now };
    expect(await lastArrival(parts, job('arrived'))).toMatchObject({ jobId: 'arrived' });
    expect(await lastArrival(parts, job('erased'))).toBeNull();
  });
});
