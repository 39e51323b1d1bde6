import { isJsonObject, parseJson } from '../lib/text/parse-json.js';
import type { ObjectStore } from './object-store.js';
import { readToEnd } from './read-to-end.js';

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
  const value = parseJson((await readToEnd(key, reading.body)).toString());
  return isJsonObject(value) ? value : null;
}
