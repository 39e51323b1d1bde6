import { buffer } from 'node:stream/consumers';
import { type ObjectStore, StoreError } from './object-store.js';

/** Headers of a JSON document of the product. */
export const DOCUMENT_HEADERS = { contentType: 'application/json', metadata: {} } as const;

/** Reads a JSON document of the product; null when it is missing, too large or not a JSON object. */
export async function readDocument(
  store: Pick<ObjectStore, 'read'>,
  key: string,
  maxBytes = 16 * 1024 * 1024,
): Promise<Record<string, unknown> | null> {
  const reading = await store.read(key);
  if (reading === null) return null;
  if (reading.info.size > maxBytes) {
    reading.body.destroy();
    return null;
  }
  const bytes = await buffer(reading.body).catch((cause: unknown) => {
    throw new StoreError('read', `${key} could not be read to its end`, { cause });
  });
  try {
    const value: unknown = JSON.parse(bytes.toString());
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
