import type { DatabaseSync } from 'node:sqlite';
import { isDelivery } from '../../domain/delivery.js';
import { isInScope, type SourceScope } from '../../domain/rights.js';
import { HOUR } from '../../ledger/hours.js';
import { type FigureWidth, MINUTE } from '../figure-widths.js';
import { idsOf, type LineClasses } from '../line-classes.js';
import { type AlignedPeriod, alignPeriod, type Period } from './align-period.js';
import { lastAccepted } from './last-accepted.js';
import { createPeriodFigures, NO_REGION, type PeriodFigures } from './period-figures.js';

/** Figures of the deliveries of a period, for charts and for the verdict on health. */
export interface PeriodSummary {
  /** ISO 8601; the period of the figures. */
  readonly since: string;
  readonly until: string;
  /** Milliseconds: the period and its parts begin at multiples of it. */
  readonly resolutionMs: number;
  readonly total: PeriodFigures;
  /** Parts of the period of equal length, oldest first; empty ones included. The last one may be shorter. */
  readonly buckets: readonly (PeriodFigures & { readonly start: string })[];
  /** When the last callback of the last seven days was accepted, by name. */
  readonly last: {
    /** Empty for a client that may see some sources only. */
    readonly byRegion: Readonly<Record<string, string>>;
    readonly bySource: Readonly<Record<string, string>>;
    /** By `<source>/<credential>`. */
    readonly byCredential: Readonly<Record<string, string>>;
  };
}

export interface PeriodQuery extends Period {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Only lines of these sources. */
  readonly scope?: SourceScope | undefined;
}

/** How far back the last accepted callbacks are searched, in milliseconds. */
const LAST_WITHIN = 7 * 24 * HOUR;

export function summarisePeriod(
  database: DatabaseSync,
  classes: LineClasses,
  query: PeriodQuery,
): PeriodSummary {
  const { now, scope = null } = query;
  const range = alignPeriod(query, now);
  const figures = figuresOf(database, classes, range, scope);
  const total = createPeriodFigures();
  for (const part of figures) total.addAll(part);
  return {
    since: iso(range.since),
    until: iso(range.until),
    resolutionMs: range.resolution,
    total: total.result(),
    buckets: figures.map((part, index) => ({
      start: iso(range.since + index * range.width),
      ...part.result(),
    })),
    last: lastOf(lastAccepted(database, classes, { since: now - LAST_WITHIN, scope }), scope),
  };
}

/** The figures of each part. */
function figuresOf(database: DatabaseSync, classes: LineClasses, range: AlignedPeriod, scope: SourceScope) {
  const figures = Array.from({ length: range.parts }, createPeriodFigures);
  const wanted = classes.all().filter(({ origin, source }) => isDelivery(origin) && isInScope(scope, source));
  const where = `WHERE width = ? AND start >= ? AND start < ? AND class IN (${idsOf(wanted)})`;
  const part = 'min(CAST((start - ?) / ? AS INTEGER), ?) AS part';
  const sums = database.prepare(
    `SELECT ${part}, class, sum(lines) AS lines, sum(bytes) AS bytes, max(longest) AS longest
     FROM figures ${where} GROUP BY 1, 2`,
  );
  const durations = database.prepare(
    `SELECT ${part}, bucket, sum(lines) AS lines FROM durations ${where} GROUP BY 1, 2`,
  );
  for (const stretch of stretchesOf(range)) {
    const values = [range.since, range.width, range.parts - 1, ...stretch] as const;
    for (const row of sums.iterate(...values)) {
      const [lines, bytes, longest] = [Number(row.lines), Number(row.bytes), Number(row.longest)];
      figures[Number(row.part)]?.add(classes.byId(Number(row.class)), { lines, bytes, longest });
    }
    for (const row of durations.iterate(...values))
      figures[Number(row.part)]?.addDurations(Number(row.bucket), Number(row.lines));
  }
  return figures;
}

type Stretch = readonly [width: FigureWidth, since: number, until: number];

/** Whole hours where no part begins within one, and minutes elsewhere. */
function stretchesOf({ since, until, width, parts }: AlignedPeriod): Stretch[] {
  const begin = Math.ceil(since / HOUR) * HOUR;
  const end = Math.floor(until / HOUR) * HOUR;
  const isByHour = parts === 1 || (since === begin && width % HOUR === 0);
  if (!isByHour || begin >= end) return [[MINUTE, since, until]];
  return [
    [MINUTE, since, begin],
    [HOUR, begin, end],
    [MINUTE, end, until],
  ];
}

function lastOf(accepted: ReturnType<typeof lastAccepted>, scope: SourceScope): PeriodSummary['last'] {
  return {
    byRegion: scope === null ? newest(accepted.map((each) => [each.region ?? NO_REGION, each.received])) : {},
    bySource: newest(
      accepted.flatMap(({ source, received }) => (source === null ? [] : [[source, received]])),
    ),
    byCredential: newest(
      accepted.flatMap(({ source, credential, received }) =>
        credential === null ? [] : [[`${source}/${credential}`, received]],
      ),
    ),
  };
}

function newest(times: readonly (readonly [name: string, time: number])[]): Record<string, string> {
  const sorted = times.toSorted(([, a], [, b]) => a - b);
  return Object.fromEntries(sorted.map(([name, time]) => [name, iso(time)]));
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
