import { type ParsedSegment, parseSegment } from '../../ledger/parse-segment.js';
import { LINES } from '../schema.js';

/** The lines of a segment that go into the index, and how many do not. */
export interface ReadContent {
  readonly entries: ParsedSegment['entries'];
  readonly unread: {
    /** All of them. */
    readonly lines: number;
    /** Those that a newer version wrote. */
    readonly newer: number;
  };
}

export function readContent({ buffer, byteOffset, byteLength }: Uint8Array): ReadContent {
  const { entries, brokenLines, newerLines } = parseSegment(Buffer.from(buffer, byteOffset, byteLength));
  const read = entries.filter(({ index }) => index < LINES);
  const newer = newerLines.length;
  return {
    entries: read,
    unread: { lines: brokenLines.length + newer + entries.length - read.length, newer },
  };
}
