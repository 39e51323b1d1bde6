import { parseSegment } from '../../ledger/parse-segment.js';
import { subscriberOf } from '../../ledger/segment-key.js';
import { LINES } from '../schema.js';
import { parseAttempts } from './parse-attempts.js';
import type { SegmentContent } from './segment-content.js';

/** A line of a delivery, and where it is in the segment. */
export type ReadLine = ReturnType<typeof parseSegment>['entries'][number];

/** The lines of a segment that go into the index, and how many do not. */
export interface ReadContent {
  readonly entries: readonly ReadLine[];
  readonly attempts: ReturnType<typeof parseAttempts>['attempts'];
  readonly unreadable: number;
}

export function readContent(segment: Pick<SegmentContent, 'writer' | 'content'>): ReadContent {
  const { buffer, byteOffset, byteLength } = segment.content ?? new Uint8Array();
  const content = Buffer.from(buffer, byteOffset, byteLength);
  if (subscriberOf(segment.writer) !== null) return { entries: [], ...parseAttempts(content) };
  const { entries, unreadable } = parseSegment(content);
  const read = entries.filter(({ index }) => index < LINES);
  return { entries: read, attempts: [], unreadable: unreadable + entries.length - read.length };
}
