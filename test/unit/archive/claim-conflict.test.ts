import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { claimConflict } from '../../../src/archive/claim-conflict.js';
import { holdsBytes, readBack } from '../../../src/archive/read-back.js';
import { createMemoryStore } from '../../support/store/memory-store.js';

const CONTENT = 'the same bytes';
const sha256 = createHash('sha256').update(CONTENT).digest('hex');

/** A copy of the same bytes, kept by another delivery. */
function keptBy(store: ReturnType<typeof createMemoryStore>, delivery: string) {
  const key = `jobs/a/conflicts/data.${delivery}`;
  store.put(key, CONTENT);
  return { folder: 'jobs/a/', path: 'data', size: CONTENT.length, sha256, key };
}

describe('copies of one streamed conflict', () => {
  it('are kept by their own delivery when the claimed copy is missing, or holds other bytes', async () => {
    const store = createMemoryStore();
    const first = keptBy(store, 'A');
    const second = keptBy(store, 'B');
    await claimConflict(store, first);
    store.put(first.key, 'other bytes!!!');
    expect(await claimConflict(store, second)).toBe(second.key);
    await store.delete(first.key);
    expect(await claimConflict(store, second)).toBe(second.key);
  });

  it('are kept by their own delivery when the claim was deleted while it was read', async () => {
    const store = createMemoryStore();
    const kept = keptBy(store, 'A');
    const create = async () => 'exists' as const;
    expect(await claimConflict({ ...store, create }, kept)).toBe(kept.key);
  });
});

describe('reading back', () => {
  it('returns size and hash, and null for a missing key', async () => {
    const store = createMemoryStore();
    store.put('key', CONTENT);
    expect(await readBack(store, 'key')).toMatchObject({
      size: CONTENT.length,
      sha256,
      info: { key: 'key' },
    });
    expect(await readBack(store, 'missing')).toBeNull();
  });

  it('compares size and hash, and reads nothing of another size', async () => {
    const store = createMemoryStore();
    store.put('key', CONTENT);
    expect(await holdsBytes(store, 'key', { size: CONTENT.length, sha256 })).toBe(true);
    expect(await holdsBytes(store, 'key', { size: CONTENT.length, sha256: '0' })).toBe(false);
    store.calls.length = 0;
    expect(await holdsBytes(store, 'key', { size: CONTENT.length + 1, sha256 })).toBe(false);
    expect(await holdsBytes(store, 'missing', { size: CONTENT.length, sha256 })).toBe(false);
    expect(store.calls.map(({ operation }) => operation)).toEqual(['head', 'head']);
  });

  it('does not hold an object deleted between head and read', async () => {
    const store = createMemoryStore();
    store.put('key', CONTENT);
    const read = async () => null;
    expect(await holdsBytes({ ...store, read }, 'key', { size: CONTENT.length, sha256 })).toBe(false);
  });
});
