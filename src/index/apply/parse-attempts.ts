import { EVENT_ENDS, type SentAttempt } from '../../domain/sent-attempt.js';
import { isJsonObject, parseJson } from '../../lib/text/parse-json.js';
import { LINES } from '../schema.js';

interface ParsedAttempts {
  readonly attempts: readonly { readonly line: SentAttempt; readonly index: number }[];
  readonly unreadable: number;
}

/** The attempts of a segment that says what was sent. Lines that cannot be read are counted. */
export function parseAttempts(content: Buffer): ParsedAttempts {
  const attempts: { line: SentAttempt; index: number }[] = [];
  let unreadable = 0;
  for (const [index, text] of content.toString().split('\n').entries()) {
    if (text.trim() === '') continue;
    const value = parseJson(text);
    if (isJsonObject(value) && isAttempt(value) && index < LINES) attempts.push({ line: value, index });
    else unreadable += 1;
  }
  // Each segment is written with a line.
  return { attempts, unreadable: attempts.length + unreadable === 0 ? 1 : unreadable };
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
