import type { ObjectInfo, ObjectReading, ObjectStore } from './object-store.js';

/** The bytes of an object. Throws `StoreError` when the body breaks off. Copies less than `node:stream/consumers`, which uses a Blob. */
export async function readToEnd({ body, bytes }: ObjectReading): Promise<Buffer> {
  return bytes ?? Buffer.concat(await body.toArray());
}

/** Reads an object, or a range of it, into memory; null when it is missing. `bytes` is null when the object is larger than `maxBytes`. */
export async function readBytes(
  store: Pick<ObjectStore, 'read'>,
  key: string,
  maxBytes = Number.POSITIVE_INFINITY,
  range?: Parameters<ObjectStore['read']>[1],
): Promise<{ readonly info: ObjectInfo; readonly bytes: Buffer | null } | null> {
  const reading = await store.read(key, range);
  if (reading === null) return null;
  if (reading.info.size <= maxBytes) return { info: reading.info, bytes: await readToEnd(reading) };
  reading.body.destroy();
  return { info: reading.info, bytes: null };
}

/** The text of an object; null when it is missing. */
export async function readText(store: Pick<ObjectStore, 'read'>, key: string): Promise<string | null> {
  const found = await readBytes(store, key);
  return found && String(found.bytes);
}
