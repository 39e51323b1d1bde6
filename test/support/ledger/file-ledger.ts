import { encodeTime } from 'ulid';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { hourFolder } from '../../../src/ledger/ledger-keys.js';
import type { ObjectStore } from '../../../src/store/object-store.js';
import { ledgerLine } from './ledger-lines.js';

/** Writes segments of `lines` lines each into an hour; returns the lines. */
export async function writeHour(
  store: ObjectStore,
  hour: number,
  { segments, lines }: { readonly segments: number; readonly lines: number },
): Promise<LedgerLine[]> {
  const all: LedgerLine[] = [];
  for (let segment = 0; segment < segments; segment += 1) {
    const at = hour + Math.floor((segment * 3_600_000) / segments);
    const receivedAt = new Date(at).toISOString();
    const written = Array.from({ length: lines }, (_, index) =>
      ledgerLine({
        receivedAt,
        durationMs: index,
        bytes: segment,
        outcome: index % 7 === 0 ? 'failed' : 'stored',
      }),
    );
    const key = `ledger/${hourFolder(receivedAt)}${encodeTime(at)}${String(segment).padStart(16, '0')}-r.ndjson`;
    const body = Buffer.from(written.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await store.create(key, body, { contentType: 'application/x-ndjson', metadata: {} });
    all.push(...written);
  }
  return all;
}
