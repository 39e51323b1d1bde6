import { isJsonObject, parseJson } from '../lib/text/parse-json.js';
import type { ObjectStore } from './object-store.js';
import { readBytes } from './read-to-end.js';

/** Headers of a JSON document of the product. */
export const DOCUMENT_HEADERS = { contentType: 'application/json', metadata: {} } as const;

/** Reads a JSON document of the product; null when it is missing, too large or not a JSON object. */
export async function readDocument(
  store: Pick<ObjectStore, 'read'>,
  key: string,
  maxBytes = 16 * 1024 * 1024,
): Promise<Record<string, unknown> | null> {
  const found = await readBytes(store, key, maxBytes);
  const value = found?.bytes && parseJson(found.bytes.toString());
  return isJsonObject(value) ? value : null;
}
