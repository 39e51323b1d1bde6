import type { LedgerLine } from '../../../src/domain/delivery.js';
import { hourAt } from '../../../src/ledger/hours.js';
import { parseSegmentKey, segmentKey } from '../../../src/ledger/segment-key.js';
import type { MemoryStore } from '../store/memory-store.js';

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
  const numbers = [...store.objects.keys()].flatMap((key) => {
    const place = parseSegmentKey(key);
    return place?.hour === hour && place.writer === writer ? [place.number] : [];
  });
  const key = segmentKey({ hour, writer, number: Math.max(0, ...numbers) + 1 });
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  store.put(key, texts.map((text) => `${text}\n`).join(''), time);
  return key;
}
