import { type ObjectHeaders, StoreError } from './object-store.js';

/** S3 allows 1024 bytes for the whole key; 128 are reserved for the store's prefix. */
const MAX_KEY_BYTES = 896;
/** The limit of ext4, XFS, APFS and NTFS for one name. S3 has none, but both stores accept the same keys. */
const MAX_SEGMENT_BYTES = 255;
/** File at the top of a file store that identifies it. */
export const STORE_MARKER = '.transcript-receiver';
/** Holds the id of a store in a bucket; in a dot-folder, so that a listing of everything omits it. */
export const BUCKET_MARKER = '.store/marker.json';
/** Last part of the keys of `ObjectStore.prove`. Athena, Spark and DuckDB ignore names that begin with a dot. */
export const PROOF_NAME = '.writable';
/** Names that the file store reserves; case-insensitive because some file systems are. */
const STORES_OWN = /^\.(?:meta|tmp|transcript-receiver)(?:[/.]|$)/i;
/** S3's XML listings cannot hold control characters; a backslash is a separator on some systems. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point.
const UNSAFE_CHARACTERS = /[\u0000-\u001f\u007f\\]|\p{Surrogate}/u;

/**
 * Rejects keys that could leave the store's folder, reach its reserved folders, or mean different things to different
 * stores. Both stores accept exactly the same keys.
 *
 * @throws StoreError naming the operation and what is wrong
 */
export function assertKey(operation: string, key: string): void {
  const fault = keyFault(key);
  if (fault !== null) throw new StoreError(operation, `refused key ${JSON.stringify(key)}: ${fault}`);
}

/** Whether `assertKey` accepts the text. */
export function isKey(text: string): boolean {
  return keyFault(text) === null;
}

/**
 * Whether a listing of `prefix` includes a key. Leaves out invalid keys, such as the folder markers of S3 consoles, proofs of
 * permission, and dot-folders (canary, probe) unless the prefix begins with a dot: a listing of everything shows exactly the
 * key layout.
 */
export function isListed(key: string, prefix: string): boolean {
  return isKey(key) && !key.endsWith(`/${PROOF_NAME}`) && (!key.startsWith('.') || prefix.startsWith('.'));
}

/** Like `assertKey` for listings: the empty prefix, a folder ending in `/`, or the beginning of a name. */
export function assertPrefix(operation: string, prefix: string): void {
  if (prefix === '') return;
  const fault = keyFault(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix);
  if (fault !== null) throw new StoreError(operation, `refused prefix ${JSON.stringify(prefix)}: ${fault}`);
}

function keyFault(key: string): string | null {
  if (key === '') return 'it is empty';
  if (STORES_OWN.test(key)) return 'this name is reserved for the store itself';
  if (UNSAFE_CHARACTERS.test(key)) return 'it holds a control character, a backslash or broken Unicode';
  const bytes = Buffer.byteLength(key);
  if (bytes > MAX_KEY_BYTES) return `it is longer than ${MAX_KEY_BYTES} bytes`;
  return bytes > MAX_SEGMENT_BYTES || ODD_SEGMENT.test(key) ? segmentFault(key) : null;
}

/** An empty segment, or one of one or two dots. */
const ODD_SEGMENT = /(?:^|\/)\.{0,2}(?:\/|$)/;

function segmentFault(key: string): string | null {
  for (const segment of key.split('/')) {
    if (segment === '') return 'it has an empty segment';
    if (segment === '.' || segment === '..') return 'it has a dot segment';
    if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES)
      return `a segment is longer than ${MAX_SEGMENT_BYTES} bytes`;
  }
  return null;
}

const BEYOND_D7FF = /[\ud800-\uffff]/;

/** S3's listing order: UTF-8 bytes of the whole key. JavaScript's own order differs beyond U+D7FF. */
export function compareKeys(a: string, b: string): number {
  if (BEYOND_D7FF.test(a) || BEYOND_D7FF.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Sorts in place in the same order, without a comparison function where JavaScript's own order suffices, which is much faster. */
export function sortKeys(keys: string[]): string[] {
  return keys.some((key) => BEYOND_D7FF.test(key)) ? keys.sort(compareKeys) : keys.sort();
}

/** S3 counts the UTF-8 bytes of names and values together. */
const MAX_METADATA_BYTES = 2048;
const METADATA_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
/** Printable ASCII without blanks at the ends: some S3 servers change anything else. */
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
