import { isUtf8 } from 'node:buffer';
import type { LedgerLine } from '../domain/delivery.js';
import { isJsonObject, parseJson } from '../lib/text/parse-json.js';

/** Where the text of a line is in its segment, in bytes, without the line feed. */
export interface LineSpan {
  readonly start: number;
  readonly length: number;
}

/** A line of the ledger as read back, and where it is in the segment. */
interface LedgerEntry extends LineSpan {
  readonly line: LedgerLine;
  readonly index: number;
}

export interface ParsedSegment {
  readonly entries: readonly LedgerEntry[];
  /**
   * How many lines cannot be read: truncated, edited by hand, foreign, not UTF-8, or of another version, whose fields may mean something
   * else. 1 for a segment without text: each is written with a line.
   */
  readonly unreadable: number;
}

/** Parses a segment. Lines that cannot be read are counted and never throw; unknown fields are kept. */
export function parseSegment(content: Buffer): ParsedSegment {
  const entries: LedgerEntry[] = [];
  let unreadable = 0;
  let index = -1;
  for (const bytes of cutLines(content)) {
    index += 1;
    const text = textOf(bytes);
    if (text?.trim() === '') continue;
    const line = lineOf(text);
    const start = bytes.byteOffset - content.byteOffset;
    if (line) entries.push({ line, index, start, length: bytes.length });
    else unreadable += 1;
  }
  return { entries, unreadable: entries.length + unreadable === 0 ? 1 : unreadable };
}

/** The line with this text; null where it cannot be read. */
export function parseLine(bytes: Buffer): LedgerLine | null {
  return lineOf(textOf(bytes));
}

function lineOf(text: string | null): LedgerLine | null {
  const value = text === null ? null : parseRecord(text);
  return value && completeLine(value);
}

/** Whether a line is no JSON object, as after text was cut or changed, or there is none. Lines of other formats are not damaged. */
export function isDamagedSegment(content: Buffer): boolean {
  let lines = 0;
  for (const bytes of cutLines(content)) {
    const text = textOf(bytes);
    if (text?.trim() === '') continue;
    if (text === null || parseRecord(text) === null) return true;
    lines += 1;
  }
  return lines === 0;
}

function* cutLines(content: Buffer): Generator<Buffer> {
  for (let start = 0; start <= content.length; ) {
    const found = content.indexOf(LINE_FEED, start);
    const end = found < 0 ? content.length : found;
    yield content.subarray(start, end);
    start = end + 1;
  }
}

/** Null for a line that is not UTF-8: a decoder that replaces its bytes would make another line of it. */
function textOf(line: Buffer): string | null {
  return isUtf8(line) ? line.toString() : null;
}

const LINE_FEED = 0x0a;

/** Fields a line may lack: written by an older version, or by something other than a delivery. */
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

function parseRecord(text: string): Record<string, unknown> | null {
  const value = parseJson(text);
  return isJsonObject(value) ? value : null;
}

/** A ledger line needs a version, an id, an instant, an origin and an outcome. Other missing fields get a neutral value. */
function completeLine(value: Record<string, unknown>): LedgerLine | null {
  if (value.v !== VERSION || !hasTexts(value) || !isInstant(value.receivedAt)) return null;
  // Existing fields keep their order: a line that is read back prints as it was written.
  for (const [field, neutral] of Object.entries(ABSENT)) value[field] ??= neutral;
  value.items = Array.isArray(value.items) ? value.items.filter(isJsonObject) : [];
  return value as unknown as LedgerLine;
}

function hasTexts(value: Record<string, unknown>): boolean {
  return (['deliveryId', 'origin', 'outcome'] as const).every((field) => typeof value[field] === 'string');
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function isInstant(value: unknown): boolean {
  return typeof value === 'string' && INSTANT.test(value) && !Number.isNaN(Date.parse(value));
}
