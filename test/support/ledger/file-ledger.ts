import type { LedgerLine } from '../../../src/domain/delivery.js';
import { hourAt } from '../../../src/ledger/hours.js';
import { segmentKey } from '../../../src/ledger/segment-key.js';
import { createFileStore } from '../../../src/store/file/file-store.js';
import type { ObjectStore } from '../../../src/store/object-store.js';
import { ledgerLine } from './ledger-lines.js';

/** Writes a segment of one line into the hour of its receipt. */
export async function writeOldLine(directory: string, line: LedgerLine): Promise<void> {
  const store = createFileStore({ directory, partSize: 64 * 1024, fsync: false });
  const key = segmentKey({ hour: hourAt(Date.parse(line.receivedAt)), writer: 'before', number: 1 });
  const body = Buffer.from(`${JSON.stringify(line)}\n`);
  await store.create(key, body, { contentType: 'application/x-ndjson', metadata: {} });
  await store.close();
}

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
    const key = segmentKey({ hour: hourAt(at), writer: 'r', number: segment + 1 });
    const body = Buffer.from(written.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await store.create(key, body, { contentType: 'application/x-ndjson', metadata: {} });
    all.push(...written);
  }
  return all;
}
