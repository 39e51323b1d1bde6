import type { LedgerLine } from '../domain/delivery.js';
import type { ObjectInfo, ObjectStore } from '../store/object-store.js';
import { readToEnd } from '../store/read-to-end.js';
import { writtenAt } from './list-segments.js';
import { type ParsedSegment, parseLinesAt, parseSegment } from './parse-segment.js';

/** Our segments hold 1 MiB or a single line. A much larger object is foreign and is not read into memory. */
const MAX_SEGMENT_BYTES = 64 * 1024 * 1024;

/**
 * Metadata of a segment in a copy of a store: ISO 8601, the time that the store had which was copied. The place of its lines goes by it.
 * Listings do not show it, and have the later time of the copy.
 */
export const WRITTEN_AT = 'written-at';

/** A segment that was read and not parsed yet: parsing takes the event loop for some milliseconds a megabyte. */
export interface UnparsedSegment {
  /** Null for a foreign object that is too large to be a segment. */
  readonly content: Buffer | null;
  /** The store's time of the segment, as `ListedSegment` has it. */
  readonly writtenAt: number;
  parse(): ParsedSegment;
  /** The lines with these indices that can be read. */
  linesAt(indices: ReadonlySet<number>): ReadonlyMap<number, LedgerLine>;
}

/** Reads one segment without parsing it; null when it is missing. */
export async function fetchSegment(store: ObjectStore, key: string): Promise<UnparsedSegment | null> {
  const reading = await store.read(key);
  if (reading === null) return null;
  const time = writtenAt({ key, modifiedAt: writtenFirst(reading.info) });
  if (reading.info.size <= MAX_SEGMENT_BYTES)
    return unparsedSegment(await readToEnd(key, reading.body), time);
  reading.body.destroy();
  const parse = () => ({ entries: [], brokenLines: [0], newerLines: [] });
  return { content: null, writtenAt: time, parse, linesAt: () => new Map() };
}

/** When a segment was written: for one that was copied, in the store that it was copied from. */
export function writtenFirst({ metadata, modifiedAt }: Pick<ObjectInfo, 'metadata' | 'modifiedAt'>): Date {
  const copied = new Date(metadata[WRITTEN_AT] ?? '');
  return Number.isNaN(copied.getTime()) ? modifiedAt : copied;
}

export function unparsedSegment(content: Buffer, writtenAt: number): UnparsedSegment {
  return {
    ...{ content, writtenAt },
    parse: () => parseSegment(content),
    linesAt: (indices) => parseLinesAt(content, indices),
  };
}
