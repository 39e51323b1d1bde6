import type { ObjectStore } from '../store/object-store.js';
import { readToEnd } from '../store/read-to-end.js';

/**
 * Creates an object that may be there already, because the response of an earlier call was lost or another process writes the same.
 * Resolves to whether it holds these bytes. Throws `StoreError`.
 */
export async function createSame(
  store: ObjectStore,
  key: string,
  body: Buffer,
  contentType: string,
): Promise<boolean> {
  if ((await store.create(key, body, { contentType, metadata: {} })) === 'created') return true;
  const reading = await store.read(key);
  if (reading === null) return false;
  if (reading.info.size === body.length) return (await readToEnd(key, reading.body)).equals(body);
  reading.body.destroy();
  return false;
}
