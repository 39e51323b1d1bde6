import type { ObjectStore } from '../store/object-store.js';
import { readToEnd } from '../store/read-to-end.js';
import { writtenAt } from './list-segments.js';
import { type ParsedSegment, parseSegment } from './parse-segment.js';

/** Our segments hold 1 MiB or a single line. A much larger object is foreign and is not read into memory. */
const MAX_SEGMENT_BYTES = 64 * 1024 * 1024;

const NOTHING: ParsedSegment = { entries: [], brokenLines: [], newerLines: [] };

interface ReadSegment extends ParsedSegment {
  /** The store's time of the segment, as `ListedSegment` has it. */
  readonly writtenAt: number;
}

/** A segment that was read and not parsed yet: parsing takes the event loop for some milliseconds a megabyte. */
export interface UnparsedSegment {
  /** Null for a foreign object that is too large to be a segment. */
  readonly content: Buffer | null;
  /** The store's time of the segment, as `ListedSegment` has it. */
  readonly writtenAt: number;
  /** @param text a text that each wanted line holds: a segment without it is not parsed, and has no lines */
  parse(text?: string): ReadSegment;
}

/** Reads one segment without parsing it; null when it is missing. */
export async function fetchSegment(store: ObjectStore, key: string): Promise<UnparsedSegment | null> {
  const reading = await store.read(key);
  if (reading === null) return null;
  const time = writtenAt({ key, modifiedAt: reading.info.modifiedAt });
  if (reading.info.size <= MAX_SEGMENT_BYTES)
    return unparsedSegment(await readToEnd(key, reading.body), time);
  reading.body.destroy();
  return { content: null, writtenAt: time, parse: () => ({ ...NOTHING, brokenLines: [0], writtenAt: time }) };
}

export function unparsedSegment(content: Buffer, writtenAt: number): UnparsedSegment {
  const holds = (text: string | undefined) => text === undefined || content.includes(text);
  return {
    ...{ content, writtenAt },
    parse: (text) => ({ ...(holds(text) ? parseSegment(content) : NOTHING), writtenAt }),
  };
}
