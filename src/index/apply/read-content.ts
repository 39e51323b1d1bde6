import type { SentAttempt } from '../../domain/sent-attempt.js';
import { parseSegment } from '../../ledger/parse-segment.js';
import { subscriberOf } from '../../ledger/segment-key.js';
import { LINES } from '../schema.js';
import { parseAttempts } from './parse-attempts.js';
import type { SegmentContent } from './segment-content.js';

interface Entry<Line> {
  readonly line: Line;
  /** In the segment. */
  readonly index: number;
}

/** A line of a delivery, and where it is in the segment. */
export type ReadLine = ReturnType<typeof parseSegment>['entries'][number];

/** The lines of a segment that go into the index, and how many do not. */
export interface ReadContent {
  readonly entries: readonly ReadLine[];
  readonly attempts: readonly Entry<SentAttempt>[];
  readonly unread: {
    /** All of them. */
    readonly lines: number;
    /** Lines that a newer version wrote. */
    readonly newer: number;
  };
}

export function readContent(segment: Pick<SegmentContent, 'writer' | 'content'>): ReadContent {
  const { buffer, byteOffset, byteLength } = segment.content ?? new Uint8Array();
  const content = Buffer.from(buffer, byteOffset, byteLength);
  if (subscriberOf(segment.writer) !== null) return { entries: [], ...parseAttempts(content) };
  const { entries, brokenLines, newerLines } = parseSegment(content);
  const read = entries.filter(({ index }) => index < LINES);
  const newer = newerLines.length;
  const lines = brokenLines.length + newer + entries.length - read.length;
  return { entries: read, attempts: [], unread: { lines, newer } };
}
