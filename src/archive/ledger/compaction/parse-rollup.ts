import { buffer } from 'node:stream/consumers';
import { type ObjectStore, StoreError } from '../../../store/object-store.js';
import { readDocument } from '../../../store/read-document.js';
import type { DailyRollup, Rollup } from './rollup.js';

/** A rollup names its segments: of 100,000 lines in as many segments that is half of this. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Null when the rollup is missing, damaged or of another version. Throws `StoreError`. */
export async function readRollup(store: ObjectStore, key: string): Promise<Rollup | null> {
  return parseRollup(await readDocument(store, key, MAX_BYTES));
}

/** A rollup without the names of its segments, which are most of it for a busy hour. */
export type RollupFigures = Omit<Rollup, 'segments'>;

/** Bytes that hold the figures of nearly every rollup. */
const HEAD_BYTES = 256 * 1024;
const SEGMENTS = ',"segments":[';

/**
 * Reads only the beginning of a large rollup. Null when the rollup is missing, damaged or of another version. Throws
 * `StoreError`.
 */
export async function readRollupFigures(store: ObjectStore, key: string): Promise<RollupFigures | null> {
  const reading = await store.read(key, { start: 0, end: HEAD_BYTES - 1 });
  if (reading === null) return null;
  const bytes = await buffer(reading.body).catch((cause: unknown) => {
    throw new StoreError('read', `${key} could not be read`, { cause });
  });
  const head = bytes.toString();
  if (reading.info.size <= HEAD_BYTES) return parseRollup(parseJson(head));
  const end = head.lastIndexOf(SEGMENTS);
  // Null also where a line has a field of this name and the names of the segments begin later.
  const figures = end < 0 ? null : parseJson(`${head.slice(0, end)}${SEGMENTS}]}`);
  return figures === null ? readRollup(store, key) : parseRollup(figures);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Null when the rollup is missing, damaged or of another version. Throws `StoreError`. */
export async function readDailyRollup(store: ObjectStore, key: string): Promise<DailyRollup | null> {
  return parseDailyRollup(await readDocument(store, key, MAX_BYTES));
}

/** Null for anything but a rollup of this version. Unknown fields are ignored. */
export function parseRollup(value: unknown): Rollup | null {
  return isRollup(value) ? (value as unknown as Rollup) : null;
}

/** Null for anything but a daily rollup of this version. Unknown fields are ignored. */
export function parseDailyRollup(value: unknown): DailyRollup | null {
  return isDailyRollup(value) ? (value as unknown as DailyRollup) : null;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isAmount: Check = (value) => Number.isFinite(value) && Number(value) >= 0;
const isInstant: Check = (value) => isText(value) && !Number.isNaN(Date.parse(String(value)));
const is =
  (expected: unknown): Check =>
  (value) =>
    value === expected;
const isAtMost =
  (most: number): Check =>
  (value) =>
    isCount(value) && Number(value) <= most;
const nullOr =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every((each) => check(each));
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const mapOf =
  (key: Check, check: Check): Check =>
  (value) =>
    isObject(value) && Object.entries(value).every(([name, each]) => key(name) && check(each));
const shape =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([name, check]) => check(value[name]));

/** Of hundreds of buckets a group: `Object.entries` and an expression for each took most of the time of a year's charts. */
const isDurations: Check = (value) => {
  if (!isObject(value)) return false;
  for (const bucket in value) {
    if (bucket.length > 4 || !(Number(bucket) >= 0) || !isCount(value[bucket])) return false;
  }
  return true;
};

const isGroup = shape({
  source: nullOr(isText),
  region: nullOr(isText),
  status: nullOr(isText),
  origin: isText,
  outcome: isText,
  lines: isCount,
  bytes: isAmount,
  durations: isDurations,
  maxDuration: isAmount,
});

const isLastAccepted = shape({
  bySource: mapOf(isText, isInstant),
  byRegion: mapOf(isText, isInstant),
  byCredential: mapOf(isText, isInstant),
});

/** The fields that lists and charts use. */
const isLine = shape({ v: is(1), deliveryId: isText, receivedAt: isInstant, outcome: isText, jobId: isText });

const COUNTS = {
  rows: isCount,
  firstReceivedAt: nullOr(isInstant),
  lastReceivedAt: nullOr(isInstant),
  broken: isCount,
  newer: isCount,
  lastAccepted: isLastAccepted,
};

const isRollup = shape({
  v: is(1),
  hour: isText,
  segments: listOf(isText),
  parquet: nullOr(shape({ key: isText, bytes: isCount })),
  ...COUNTS,
  slots: listOf(shape({ minute: isAtMost(59), groups: listOf(isGroup) })),
  attention: listOf(shape({ line: isLine, first: isInstant })),
  attentionOmitted: isCount,
  repairs: listOf(shape({ jobId: isText, deliveryId: isText, receivedAt: isInstant, outcome: isText })),
  repairsOmitted: isCount,
});

const isDailyRollup = shape({
  v: is(1),
  day: isText,
  covers: listOf(isText),
  noteworthy: listOf(isText),
  ...COUNTS,
  slots: listOf(shape({ hour: isAtMost(23), groups: listOf(isGroup) })),
});
