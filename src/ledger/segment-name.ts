import { decodeTime } from 'ulid';

/** The file name in a key without its extension. Unique within a partition. */
export function segmentName(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1, -'.ndjson'.length);
}

/** When a segment was written, by its name, in milliseconds since the epoch; null for foreign names. */
export function writtenAt(name: string): number | null {
  try {
    return decodeTime(name.slice(0, 26));
  } catch {
    return null;
  }
}

/** A slice would keep the key alive, and with it the whole page of the listing. */
export function ownCopy(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
