import type { LedgerLine } from '../../domain/delivery.js';

/** A line of the ledger as read back: the object, and its text as stored. */
export interface LedgerEntry {
  readonly line: LedgerLine;
  readonly text: string;
}

export interface ParsedSegment {
  readonly entries: readonly LedgerEntry[];
  /** Numbers, from 1, of the lines that cannot be read: truncated, edited by hand, foreign, or of another version. */
  readonly brokenLines: readonly number[];
}

/** Parses a segment. Broken lines are reported and never throw; unknown fields are kept. */
export function parseSegment(text: string): ParsedSegment {
  const entries: LedgerEntry[] = [];
  const brokenLines: number[] = [];
  let number = 0;
  for (const lineText of text.split('\n')) {
    number += 1;
    if (lineText.trim() === '') continue;
    const line = parseLine(lineText);
    if (line) entries.push({ line, text: lineText });
    else brokenLines.push(number);
  }
  return { entries, brokenLines };
}

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

/** The only version of the line's format that is read: the fields of another version may mean something else. */
const VERSION = 1;

/** A ledger line needs a version, an id, an instant, an origin and an outcome. Other missing fields get a neutral value. */
export function parseLine(text: string): LedgerLine | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(value) || value.v !== VERSION || !hasTexts(value) || !isInstant(value.receivedAt))
    return null;
  // Existing fields keep their order: a line that is read back prints as it was written.
  for (const [field, neutral] of Object.entries(ABSENT)) value[field] ??= neutral;
  value.items = Array.isArray(value.items) ? value.items.filter(isRecord) : [];
  return value as unknown as LedgerLine;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasTexts(value: Record<string, unknown>): boolean {
  return (['deliveryId', 'origin', 'outcome'] as const).every((field) => typeof value[field] === 'string');
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function isInstant(value: unknown): boolean {
  return typeof value === 'string' && INSTANT.test(value) && !Number.isNaN(Date.parse(value));
}
