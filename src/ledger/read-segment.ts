import type { ObjectInfo, ObjectStore } from '../store/object-store.js';
import { readBytes } from '../store/read-to-end.js';
import { writtenAt } from './list-segments.js';

/** The receiver's segments have 1 MiB or a single line. A much larger object is foreign and is not read into memory. */
export const MAX_SEGMENT_BYTES = 64 * 1024 * 1024;

/**
 * Metadata name of a segment in a copied store: when the original store wrote it (ISO 8601). It decides the place of its lines. Listings do
 * not show it, and have the later time of the copy.
 */
export const WRITTEN_AT = 'written-at';

/** A segment that was read and not parsed yet: parsing blocks the event loop for some milliseconds per megabyte. */
export interface UnparsedSegment {
  /** Empty for a foreign object that is too large to be a segment; a real segment is never empty. */
  readonly content: Buffer;
  /** The store's time of the segment, as `ListedSegment` has it. */
  readonly writtenAt: number;
}

/** Reads one segment without parsing it; null when it is missing. */
export async function fetchSegment(store: ObjectStore, key: string): Promise<UnparsedSegment | null> {
  const found = await readBytes(store, key, MAX_SEGMENT_BYTES);
  if (found === null) return null;
  const time = writtenAt({ key, modifiedAt: writtenFirst(found.info) });
  return { content: found.bytes ?? Buffer.alloc(0), writtenAt: time };
}

/** When a segment was first written: for a copied one, in the original store. */
export function writtenFirst({ metadata, modifiedAt }: Pick<ObjectInfo, 'metadata' | 'modifiedAt'>): Date {
  const copied = new Date(metadata[WRITTEN_AT] ?? '');
  return Number.isNaN(copied.getTime()) ? modifiedAt : copied;
}
