import type { LedgerLine } from '../../domain/delivery.js';

/** A line of the ledger as read back: the object, and its text as stored. */
export interface LedgerEntry {
  readonly line: LedgerLine;
  readonly text: string;
}

export interface ParsedSegment {
  readonly entries: readonly LedgerEntry[];
  /** Numbers, from 1, of the lines that cannot be read: truncated, edited by hand or foreign. */
  readonly brokenLines: readonly number[];
  /** Numbers, from 1, of the lines of a newer version: their fields may mean something else, so they are not read. */
  readonly newerLines: readonly number[];
}

/** Parses a segment. Broken and newer lines are reported and never throw; unknown fields are kept. */
export function parseSegment(text: string): ParsedSegment {
  const entries: LedgerEntry[] = [];
  const brokenLines: number[] = [];
  const newerLines: number[] = [];
  let number = 0;
  for (const lineText of text.split('\n')) {
    number += 1;
    if (lineText.trim() === '') continue;
    const value = parseRecord(lineText);
    const line = value && completeLine(value);
    if (line) entries.push({ line, text: lineText });
    else if (value && isNewer(value)) newerLines.push(number);
    else brokenLines.push(number);
  }
  return { entries, brokenLines, newerLines };
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

/** The only version of the line's format that is read. */
const VERSION = 1;

function isNewer({ v }: Record<string, unknown>): boolean {
  return Number.isSafeInteger(v) && Number(v) > VERSION;
}

/** A ledger line needs a version, an id, an instant, an origin and an outcome. Other missing fields get a neutral value. */
export function parseLine(text: string): LedgerLine | null {
  const value = parseRecord(text);
  return value && completeLine(value);
}

function parseRecord(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function completeLine(value: Record<string, unknown>): LedgerLine | null {
  if (value.v !== VERSION || !hasTexts(value) || !isInstant(value.receivedAt)) return null;
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
