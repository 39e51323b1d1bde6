import { randomBytes } from 'node:crypto';
import { type Archive, createArchive, type StagedDelivery } from '../../../src/archive/archive.js';
import type { ArtefactContext } from '../../../src/archive/layout.js';
import type { IncomingItem, ItemIdentity, ItemSink, StoredItem } from '../../../src/domain/item.js';
import { createBufferPool } from '../../../src/lib/memory/buffer-pool.js';
import { ByteBudget } from '../../../src/lib/memory/byte-budget.js';
import type { ObjectStore } from '../../../src/store/object-store.js';

/** An archive over a store, with a budget of `parts` parts. */
export function archiveOver(store: ObjectStore, parts = 8): { archive: Archive; budget: ByteBudget } {
  const budget = new ByteBudget({ total: parts * store.partSize, reserve: store.partSize });
  const pool = createBufferPool({ largest: store.partSize, maxBytes: store.partSize * 2 });
  return { archive: createArchive(store, budget, pool), budget };
}

let deliveries = 0;

export function context(more: Partial<ArtefactContext> = {}): ArtefactContext {
  deliveries += 1;
  return {
    deliveryId: `01TEST${String(deliveries).padStart(20, '0')}`,
    jobId: 'job1',
    status: 'success',
    source: 'default',
    region: 'eu1',
    origin: 'callback',
    receivedAt: '2026-01-02T03:04:05.678Z',
    context: null,
    keyPrefix: '',
    ...more,
  };
}

/** Commits a delivery of a job that is not erased, without asking the store. */
export async function commit(delivery: StagedDelivery): Promise<StoredItem[]> {
  const items = await delivery.commit(async () => false);
  if (items === null) throw new Error('the job is erased');
  return items;
}

export const TRANSCRIPT: ItemIdentity = { kind: 'transcript.json-v2', contentType: 'application/json' };
export const MEDIA: ItemIdentity = { kind: 'data', contentType: 'audio/wav' };

/** Writes one whole item in chunks of at most 64 KiB, as a socket would bring it. */
export async function putItem(
  sink: ItemSink,
  identity: ItemIdentity,
  content: Buffer,
  fileName?: string,
): Promise<void> {
  const item: IncomingItem = sink.open({
    identify: () => identity,
    ...(fileName === undefined ? {} : { fileName }),
  });
  for (let at = 0; at < content.length; at += 64 * 1024) {
    await item.write(Buffer.from(content.subarray(at, at + 64 * 1024)));
  }
  await item.end();
}

export function randomContent(bytes: number): Buffer {
  return randomBytes(bytes);
}

export async function readAll(store: ObjectStore, key: string): Promise<Buffer | null> {
  const reading = await store.read(key);
  if (reading === null) return null;
  const chunks = await Array.fromAsync(reading.body as AsyncIterable<Buffer>);
  return Buffer.concat(chunks);
}

export async function keysOf(store: ObjectStore, prefix = ''): Promise<string[]> {
  return Array.fromAsync(store.list(prefix), (object) => object.key);
}
