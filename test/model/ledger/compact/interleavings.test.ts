import { describe, expect, it } from '@jest/globals';
import { compact } from '../../../../src/ledger/compact/compact.js';
import { StoreError } from '../../../../src/store/object-store.js';
import { readCompactedLedger, sortedTexts } from '../../../support/ledger/compacted-ledger.js';
import { partsOf, storeAt } from '../../../support/ledger/compaction-fixture.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../support/ledger/ledger-segments.js';
import type { MemoryStore } from '../../../support/store/memory-store.js';

const SEGMENTS = 2;

/** One hour with segments of one line each, which become a file each. */
function fill(store: MemoryStore) {
  return Array.from({ length: SEGMENTS }, (_, index) => {
    const line = ledgerLine({ receivedAt: `2026-03-04T04:0${index}:00.000Z` });
    putSegment(store, `2026-03-04T04:0${index}:01.000Z`, [line]);
    return line;
  });
}

/** A view of a store that calls `before` with the number of each call. */
function withCalls(store: MemoryStore, before: (call: number, operation: string) => Promise<void> | void) {
  let calls = 0;
  const enter = async (operation: string) => {
    calls += 1;
    await before(calls, operation);
  };
  const view: MemoryStore = {
    ...store,
    async create(...args) {
      await enter('create');
      return store.create(...args);
    },
    async read(...args) {
      await enter('read');
      return store.read(...args);
    },
    async head(...args) {
      await enter('head');
      return store.head(...args);
    },
    async *list(...args) {
      await enter('list');
      yield* store.list(...args);
    },
    async delete(...args) {
      await enter('delete');
      return store.delete(...args);
    },
  };
  return view;
}

/** Compacts until the process dies before its n-th write. Resolves to whether it came so far. */
async function compactUntil(store: MemoryStore, writes: number, fileBytes: number): Promise<boolean> {
  let seen = 0;
  const stopped = new AbortController();
  const dying = withCalls(store, (_, operation) => {
    if (operation === 'create' || operation === 'delete') seen += 1;
    if (seen < writes) return;
    stopped.abort();
    throw new StoreError(operation, 'the process died');
  });
  await compact({ ...partsOf(store), store: dying, fileBytes, planTimeout: 0 }, { signal: stopped.signal });
  return stopped.signal.aborted;
}

describe('two processes that compact one hour', () => {
  it.each([
    ['of one size', 1],
    ['of another size', 1_000_000],
  ])(
    'put every line into one file, %s, wherever one of them overtakes the other and dies',
    async (_, fileBytes) => {
      let isLastWrite = false;
      for (let writes = 1; !isLastWrite; writes += 1) {
        for (let call = 1; ; call += 1) {
          const store = storeAt();
          const lines = fill(store);
          let wasOvertaken = false;
          const slow = withCalls(store, async (number) => {
            if (number !== call) return;
            wasOvertaken = true;
            const isDead = await compactUntil(store, writes, fileBytes);
            // Later there is less to write.
            if (call === 1) isLastWrite = !isDead;
          });
          await compact({ ...partsOf(store), store: slow, fileBytes: 1 });
          if (!wasOvertaken) break;
          await compact(partsOf(store, { planTimeout: 0 }));

          const compacted = await readCompactedLedger(store);
          const found = sortedTexts(compacted.lines);
          if (found.join() !== sortedTexts(lines).join() || compacted.leftOver.length > 0) {
            expect({ writes, call, found, leftOver: compacted.leftOver }).toEqual({
              writes,
              call,
              found: sortedTexts(lines),
              leftOver: [],
            });
          }
        }
      }
    },
  );
});
