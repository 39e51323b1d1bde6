import type { DailyCovers, DailyFigures, DailyRollup } from './rollup.js';

/** Null for anything but a daily rollup of this version. Unknown fields are ignored. */
export function parseDailyRollup(value: unknown): DailyRollup | null {
  return isDailyRollup(value) ? (value as unknown as DailyRollup) : null;
}

/** Null for anything but the beginning of a daily rollup of this version with half days. */
export function parseDailyFigures(value: unknown): DailyFigures | null {
  return isDailyFigures(value) ? (value as unknown as DailyFigures) : null;
}

export function parseDailyCovers(value: unknown): DailyCovers | null {
  return isDailyCovers(value) ? (value as unknown as DailyCovers) : null;
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

const FIGURES = { lines: isCount, bytes: isAmount, durations: isDurations, maxDuration: isAmount };

const isGroup = shape({
  source: nullOr(isText),
  region: nullOr(isText),
  status: nullOr(isText),
  origin: isText,
  outcome: isText,
  ...FIGURES,
});

const isHalfDay = shape({
  hour: isAtMost(23),
  sources: listOf(
    shape({
      source: nullOr(isText),
      origin: isText,
      outcomes: mapOf(isText, isCount),
      regions: mapOf(isText, isCount),
      ...FIGURES,
    }),
  ),
});

const isLastAccepted = shape({
  bySource: mapOf(isText, isInstant),
  byRegion: mapOf(isText, isInstant),
  byCredential: mapOf(isText, isInstant),
});

const COUNTS = {
  rows: isCount,
  first: nullOr(isInstant),
  last: nullOr(isInstant),
  broken: isCount,
  newer: isCount,
  lastAccepted: isLastAccepted,
};

const DAY = { v: is(1), day: isText };

const isDailyFigures = shape({ ...DAY, ...COUNTS, halfDays: listOf(isHalfDay) });

const isDailyCovers = shape({ ...DAY, covers: listOf(isText), noteworthy: listOf(isText) });

const isDailyRollup = shape({
  ...DAY,
  ...COUNTS,
  halfDays: listOf(isHalfDay),
  covers: listOf(isText),
  noteworthy: listOf(isText),
  slots: listOf(shape({ hour: isAtMost(23), groups: listOf(isGroup) })),
});
