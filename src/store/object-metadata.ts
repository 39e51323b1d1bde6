import { type ObjectHeaders, StoreError } from './object-store.js';

/** S3 counts the UTF-8 bytes of names and values together. */
const MAX_METADATA_BYTES = 2048;
const METADATA_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
/** Printable ASCII without blanks at the ends: some S3 servers return anything else changed. */
const METADATA_VALUE = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;
const CONTENT_TYPE = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/**
 * Rejects headers that some store would corrupt, so that every store fails alike.
 *
 * @throws StoreError that names the invalid entry
 */
export function assertHeaders(operation: string, headers: ObjectHeaders): void {
  if (!CONTENT_TYPE.test(headers.contentType))
    throw new StoreError(operation, 'refused content type: it must be 1 to 255 printable ASCII characters');
  let bytes = 0;
  for (const name in headers.metadata) {
    const value = headers.metadata[name] ?? '';
    if (!METADATA_NAME.test(name))
      throw new StoreError(operation, `refused metadata name ${JSON.stringify(name)}`);
    if (!METADATA_VALUE.test(value))
      throw new StoreError(operation, `refused metadata ${name}: its value is not printable ASCII`);
    bytes += name.length + value.length;
  }
  if (bytes > MAX_METADATA_BYTES)
    throw new StoreError(operation, `refused metadata: ${bytes} bytes, ${MAX_METADATA_BYTES} at most`);
}
