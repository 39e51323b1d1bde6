import type { LedgerLine } from '../../../src/domain/delivery.js';
import { hourAt } from '../../../src/ledger/hours.js';
import { segmentKey } from '../../../src/ledger/segment-key.js';
import type { MemoryStore } from '../store/memory-store.js';

/** Last number that was put, per hour and writer of a store: a search of its keys would make many puts quadratic. */
const lastNumbers = new WeakMap<MemoryStore, Map<string, number>>();

/**
 * Puts a segment into a store as a replica would have written it at an instant, with the next number of its writer. Returns its
 * key.
 */
export function putSegment(
  store: MemoryStore,
  writtenAt: string,
  lines: readonly (LedgerLine | string)[],
  writer = 'r',
): string {
  const time = Date.parse(writtenAt);
  const hour = hourAt(time);
  const key = nextKey(store, hour, writer);
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  store.put(key, texts.map((text) => `${text}\n`).join(''), time);
  return key;
}

/** The key after the last one; skips keys that a test put itself. */
function nextKey(store: MemoryStore, hour: string, writer: string): string {
  const last = lastNumbers.get(store) ?? new Map<string, number>();
  lastNumbers.set(store, last);
  let number = last.get(hour + writer) ?? 0;
  let key: string;
  do {
    number += 1;
    key = segmentKey({ hour, writer, number });
  } while (store.objects.has(key));
  last.set(hour + writer, number);
  return key;
}
