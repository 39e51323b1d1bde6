import { isUtf8 } from 'node:buffer';
import type { LedgerLine } from '../domain/delivery.js';
import { isJsonObject, parseJson } from '../lib/text/parse-json.js';

/** Lines that are read of a segment at most. */
export const MAX_LINES = 2 ** 20;

/** Position of a line's text in its segment, in bytes, without the line feed. */
export interface LineSpan {
  readonly start: number;
  readonly length: number;
}

/** A line and its position in the segment. */
interface SegmentEntry<Line> extends LineSpan {
  readonly line: Line;
  readonly index: number;
}

export interface ParsedSegment<Line = LedgerLine> {
  readonly entries: readonly SegmentEntry<Line>[];
  /**
   * Number of lines that cannot be read: truncated, edited by hand, foreign, not UTF-8, or of another version, whose fields may mean
   * something else. 1 for an empty segment, because every segment is written with a line.
   */
  readonly unreadable: number;
}

/** Parses a segment of the ledger. Lines that cannot be read are counted and never throw; unknown fields are kept. */
export function parseSegment(content: Buffer): ParsedSegment {
  return parseLines(content, completeLine);
}

type Fields = Record<string, unknown>;

/** Parses a segment whose lines are JSON objects. @param read returns null for an object that is not a valid line */
export function parseLines<Line>(content: Buffer, read: (value: Fields) => Line | null): ParsedSegment<Line> {
  const entries: SegmentEntry<Line>[] = [];
  let unreadable = 0;
  let index = -1;
  for (const bytes of cutLines(content)) {
    index += 1;
    const text = textOf(bytes);
    if (text?.trim() === '') continue;
    const line = lineOf(text, read);
    const start = bytes.byteOffset - content.byteOffset;
    if (line && index < MAX_LINES) entries.push({ line, index, start, length: bytes.length });
    else unreadable += 1;
  }
  return { entries, unreadable: entries.length + unreadable === 0 ? 1 : unreadable };
}

/** Parses one line; null when it cannot be read. */
export function parseLine(bytes: Buffer): LedgerLine | null {
  return lineOf(textOf(bytes), completeLine);
}

function lineOf<Line>(text: string | null, read: (value: Fields) => Line | null): Line | null {
  const value = text === null ? null : parseJson(text);
  return isJsonObject(value) ? read(value) : null;
}

/** Whether the segment is empty or a line of it is not a JSON object, as after truncation. Lines of other formats are not damaged. */
export function isDamagedSegment(content: Buffer): boolean {
  return parseLines(content, (value) => value).unreadable > 0;
}

function* cutLines(content: Buffer): Generator<Buffer> {
  for (let start = 0; start <= content.length; ) {
    const found = content.indexOf(LINE_FEED, start);
    const end = found < 0 ? content.length : found;
    yield content.subarray(start, end);
    start = end + 1;
  }
}

/** Null for a line that is not UTF-8: decoding with replacement characters would change it. */
function textOf(line: Buffer): string | null {
  return isUtf8(line) ? line.toString() : null;
}

const LINE_FEED = 0x0a;

/** Values of fields that a line may lack, because an older version wrote it or it records no delivery. */
const ABSENT = {
  source: null,
  region: null,
  clientIp: null,
  method: null,
  jobId: null,
  status: null,
  credential: null,
  reason: null,
  bytes: 0,
  durationMs: 0,
  shape: null,
} as const;

/** The only version of the line's format that is read. */
const VERSION = 1;

/** A ledger line needs a version, an id, an instant, an origin and an outcome. Other missing fields get a neutral value. */
function completeLine(value: Fields): LedgerLine | null {
  if (value.v !== VERSION || !hasTexts(value) || !isInstant(value.receivedAt)) return null;
  // Existing fields keep their order: a line that is read back prints as it was written.
  for (const [field, neutral] of Object.entries(ABSENT)) value[field] ??= neutral;
  value.items = Array.isArray(value.items) ? value.items.filter(isJsonObject) : [];
  return value as unknown as LedgerLine;
}

function hasTexts(value: Fields): boolean {
  return (['deliveryId', 'origin', 'outcome'] as const).every((field) => typeof value[field] === 'string');
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function isInstant(value: unknown): boolean {
  return typeof value === 'string' && INSTANT.test(value) && !Number.isNaN(Date.parse(value));
}
