import { EVENT_ENDS, type SentAttempt } from '../../domain/sent-attempt.js';
import { type ParsedSegment, parseLines } from '../../ledger/parse-segment.js';

/** Parses a segment of sent records. Lines that cannot be read are counted. */
export function parseAttempts(content: Buffer): ParsedSegment<SentAttempt> {
  return parseLines(content, (value) => (isAttempt(value) ? value : null));
}

const TEXTS = ['event', 'jobId', 'type', 'at'] as const;
const NUMBERS = ['attempt', 'durationMs'] as const;
const ENDS: readonly unknown[] = [null, ...EVENT_ENDS];

function isAttempt(value: Record<string, unknown>): value is Record<string, unknown> & SentAttempt {
  const isTextOrNull = (name: 'source' | 'error' | 'line') =>
    value[name] === null || typeof value[name] === 'string';
  return (
    value.v === 1 &&
    TEXTS.every((name) => typeof value[name] === 'string') &&
    NUMBERS.every((name) => Number.isSafeInteger(value[name])) &&
    Number.isFinite(Date.parse(String(value.at))) &&
    (value.status === null || Number.isSafeInteger(value.status)) &&
    ENDS.includes(value.ended) &&
    isTextOrNull('source') &&
    isTextOrNull('error') &&
    isTextOrNull('line')
  );
}
