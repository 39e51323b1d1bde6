import type { ObjectStore } from '../../store/object-store.js';
import { readToEnd } from '../../store/read-to-end.js';
import { createWorkQueue } from '../../time/work-queue.js';
import type { DailyRollup, Rollup } from './rollup.js';
import { decodeDailyRollup, decodeRollup } from './rollup-document.js';

const MAX_BYTES = 32 * 1024 * 1024;

const decode = createWorkQueue();

/**
 * Null when the rollup is missing, damaged, of another version, or of another file than its key says. Throws
 * `StoreError`.
 */
export async function readRollup(store: ObjectStore, key: string): Promise<Rollup | null> {
  const bytes = await readBytes(store, key);
  return bytes && decode(() => decodeRollup(key, bytes));
}

/** The same for the rollup of a day. */
export async function readDailyRollup(store: ObjectStore, key: string): Promise<DailyRollup | null> {
  const bytes = await readBytes(store, key);
  return bytes && decode(() => decodeDailyRollup(key, bytes));
}

/** Null when the document is missing, or larger than any rollup. */
async function readBytes(store: ObjectStore, key: string): Promise<Buffer | null> {
  const reading = await store.read(key);
  if (reading === null) return null;
  if (reading.info.size <= MAX_BYTES) return readToEnd(key, reading.body);
  reading.body.destroy();
  return null;
}
