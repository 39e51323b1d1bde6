import type { SentAttempt } from '../../domain/sent-attempt.js';
import { type ParsedSegment, parseSegment } from '../../ledger/parse-segment.js';
import { subscriberOf } from '../../ledger/segment-key.js';
import { parseAttempts } from './parse-attempts.js';
import type { SegmentContent } from './segment-content.js';

/** A ledger line and its position in the segment. */
export type ReadLine = ParsedSegment['entries'][number];

/** Parses a segment of the ledger or of sent records, and counts unreadable lines. */
export function readContent(
  segment: Pick<SegmentContent, 'writer' | 'content'>,
): ParsedSegment & { readonly attempts: ParsedSegment<SentAttempt>['entries'] } {
  const { buffer, byteOffset, byteLength } = segment.content ?? new Uint8Array();
  const content = Buffer.from(buffer, byteOffset, byteLength);
  if (subscriberOf(segment.writer) === null) return { attempts: [], ...parseSegment(content) };
  const { entries: attempts, unreadable } = parseAttempts(content);
  return { entries: [], attempts, unreadable };
}
