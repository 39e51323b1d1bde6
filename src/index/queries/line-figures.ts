import type { DatabaseSync } from 'node:sqlite';
import { HOUR } from '../../ledger/hours.js';
import { idsOf, type LineClass, type LineClasses } from '../line-classes.js';
import { MINUTE } from '../schema.js';
import { type Parts, WHOLE } from './align-period.js';
import { durationBucket } from './duration-percentiles.js';
import { type FigureGroups, type Figures, figuresIn } from './period-figures.js';

/** A time in milliseconds since the epoch; `until` is exclusive. */
export interface TimeRange {
  readonly since: number;
  readonly until: number;
}

/** The group of a line, by its class and the part of the time that it was written in. */
export type GroupOf = (lineClass: LineClass, part: number) => string;

/**
 * Adds up the lines of some classes that were written in a time, exactly: what is whole hours and minutes from their sums, and what is left
 * at both ends from the lines themselves.
 */
export function addLineFigures(
  database: DatabaseSync,
  classes: LineClasses,
  {
    wanted,
    range,
    parts,
    groupOf,
  }: {
    readonly wanted: readonly LineClass[];
    readonly range: TimeRange;
    readonly parts: Parts | null;
    readonly groupOf: GroupOf;
  },
): FigureGroups {
  const groups: FigureGroups = new Map();
  const { begin, width, count } = parts ?? WHOLE;
  const partOf = (column: string) => `max(0, min(CAST((${column} - ?) / ? AS INTEGER), ?)) AS part`;
  const divided = [begin, width, count - 1] as const;
  const ids = idsOf(wanted);
  const where = `WHERE width = ? AND start >= ? AND start < ? AND class IN (${ids})`;
  const sums = database.prepare(
    `SELECT ${partOf('start')}, class, sum(lines) AS lines, sum(bytes) AS bytes, max(longest) AS longest
     FROM figures ${where} GROUP BY 1, 2`,
  );
  const durations = database.prepare(
    `SELECT ${partOf('start')}, class, bucket, sum(lines) AS lines FROM durations ${where} GROUP BY 1, 2, 3`,
  );
  const lines = database.prepare(
    `SELECT ${partOf('written')}, class, bytes, took FROM lines WHERE class IN (${ids}) AND written >= ? AND written < ?`,
  );
  for (const { width: step, since, until } of stretchesOf(range, parts)) {
    if (step === null) {
      for (const row of lines.iterate(...divided, since, until)) {
        const lineClass = classes.byId(Number(row.class));
        addLine(figuresIn(groups, groupOf(lineClass, Number(row.part))), lineClass, row);
      }
      continue;
    }
    for (const row of sums.iterate(...divided, step, since, until)) {
      const lineClass = classes.byId(Number(row.class));
      const sum = { lines: Number(row.lines), bytes: Number(row.bytes), longest: Number(row.longest) };
      figuresIn(groups, groupOf(lineClass, Number(row.part))).add(lineClass, sum);
    }
    for (const row of durations.iterate(...divided, step, since, until)) {
      const group = groupOf(classes.byId(Number(row.class)), Number(row.part));
      figuresIn(groups, group).addDurations(Number(row.bucket), Number(row.lines));
    }
  }
  return groups;
}

/** Adds one line, by its columns `bytes` and `took`. */
export function addLine(
  figures: Figures,
  lineClass: LineClass,
  { bytes, took }: { readonly bytes?: unknown; readonly took?: unknown },
): void {
  const duration = took === null ? null : Number(took);
  figures.add(lineClass, { lines: 1, bytes: Number(bytes), longest: duration ?? 0 });
  if (duration !== null) figures.addDurations(durationBucket(duration), 1);
}

interface Stretch extends TimeRange {
  /** Width of the sums that the stretch is read from; null when it is read from lines. */
  readonly width: number | null;
}

/** Whole hours where no part begins within one, whole minutes where none begins within one, and lines elsewhere. */
function stretchesOf(range: TimeRange, parts: Parts | null): Stretch[] {
  const isOf = (step: number) =>
    parts === null || parts.count === 1 || (parts.begin % step === 0 && parts.width % step === 0);
  const widths = [HOUR, MINUTE].filter(isOf);
  return divide(range, widths);
}

function divide({ since, until }: TimeRange, [width, ...finer]: readonly number[]): Stretch[] {
  if (since >= until) return [];
  if (width === undefined) return [{ width: null, since, until }];
  const begin = Math.ceil(since / width) * width;
  const end = Math.floor(until / width) * width;
  if (begin >= end) return divide({ since, until }, finer);
  return [
    ...divide({ since, until: begin }, finer),
    { width, since: begin, until: end },
    ...divide({ since: end, until }, finer),
  ];
}
