import { StoreError } from './object-store.js';

/** S3 allows 1024 bytes for the whole key; 128 are left for the prefix a store may add. */
const MAX_KEY_BYTES = 896;
/** What ext4, XFS, APFS and NTFS allow for one name; S3 has no such limit, but both stores take the same keys. */
const MAX_SEGMENT_BYTES = 255;
/** File at the top of a file store by which it knows its folder again. */
export const STORE_MARKER = '.transcript-receiver';
/** What the file store keeps for itself; without regard to case because some file systems have none. */
const STORES_OWN = /^\.(?:meta|tmp|transcript-receiver)(?:[/.]|$)/i;
/** Control characters cannot be told in S3's XML listings; a backslash is a separator on some systems. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point.
const UNSAFE_CHARACTERS = /[\u0000-\u001f\u007f\\]|\p{Surrogate}/u;

/**
 * Refuses keys that could leave the store's folder, reach its own folders, or mean different things to
 * different stores. Both stores accept exactly the same keys.
 *
 * @throws StoreError naming the operation and what is wrong
 */
export function assertKey(operation: string, key: string): void {
  const fault = keyFault(key);
  if (fault !== null) throw new StoreError(operation, `refused key ${JSON.stringify(key)}: ${fault}`);
}

/** True for what `assertKey` accepts. */
export function isKey(text: string): boolean {
  return keyFault(text) === null;
}

/**
 * Whether a listing of `prefix` shows a key. What no key of ours can name stays out, e.g. consoles' folder
 * markers, and so do dot-folders (canary, probe) unless the prefix asks for them: what a listing of
 * everything shows is exactly the key layout.
 */
export function isListed(key: string, prefix: string): boolean {
  return isKey(key) && (!key.startsWith('.') || prefix.startsWith('.'));
}

/** Like `assertKey` for listings: the empty prefix, a folder ending in `/`, or the beginning of a name. */
export function assertPrefix(operation: string, prefix: string): void {
  if (prefix === '') return;
  const fault = keyFault(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix);
  if (fault !== null) throw new StoreError(operation, `refused prefix ${JSON.stringify(prefix)}: ${fault}`);
}

function keyFault(key: string): string | null {
  if (key === '') return 'it is empty';
  if (STORES_OWN.test(key)) return 'this name is kept for the store itself';
  if (UNSAFE_CHARACTERS.test(key)) return 'it holds a control character, a backslash or broken Unicode';
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) return `it is longer than ${MAX_KEY_BYTES} bytes`;
  for (const segment of key.split('/')) {
    if (segment === '') return 'it has an empty segment';
    if (segment === '.' || segment === '..') return 'it has a dot segment';
    if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES)
      return `a segment is longer than ${MAX_SEGMENT_BYTES} bytes`;
  }
  return null;
}

/** S3's listing order: UTF-8 bytes of the whole key. JavaScript's own order differs beyond U+D7FF. */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
