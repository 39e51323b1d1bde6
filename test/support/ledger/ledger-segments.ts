import { encodeTime } from 'ulid';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { ledgerPartition } from '../../../src/ledger/ledger-keys.js';
import type { MemoryStore } from '../store/memory-store.js';

let counter = 0;

/** Puts a segment into a store as a replica would have written it at an instant. Returns its key. */
export function putSegment(
  store: MemoryStore,
  writtenAt: string,
  lines: readonly (LedgerLine | string)[],
  partition = ledgerPartition(writtenAt),
): string {
  counter += 1;
  const key = `${partition}${encodeTime(Date.parse(writtenAt))}${String(counter).padStart(16, '0')}-r.ndjson`;
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  store.put(key, texts.map((text) => `${text}\n`).join(''));
  return key;
}
