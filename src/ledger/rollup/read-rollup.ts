import type { ObjectStore } from '../../store/object-store.js';
import { readToEnd } from '../../store/read-to-end.js';
import { createWorkQueue } from '../../time/work-queue.js';
import type { ChartRollup, Rollup } from './rollup.js';
import { decodeRollup } from './rollup-document.js';

const MAX_BYTES = 32 * 1024 * 1024;

const decode = createWorkQueue();

/**
 * Reads the rollup of a file, or of a day. Null when it is missing, damaged, larger than any, of another version, or the rollup of
 * another key. Throws `StoreError`.
 */
export async function readRollup<Document extends ChartRollup = Rollup>(
  store: ObjectStore,
  key: string,
): Promise<Document | null> {
  const reading = await store.read(key);
  if (reading === null) return null;
  if (reading.info.size > MAX_BYTES) {
    reading.body.destroy();
    return null;
  }
  const bytes = await readToEnd(key, reading.body);
  return decode(() => decodeRollup<Document>(key, bytes));
}
