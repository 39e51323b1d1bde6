import { isInScope, type SourceScope } from '../../../domain/rights.js';
import { HOUR } from '../../hours.js';
import { SLOT } from '../../rollup/build-rollup.js';
import { createLastAccepted } from '../../rollup/last-accepted.js';
import { ceilTo, DAY, floorTo, mergeRanges, type TimeRange } from '../time-ranges.js';
import { type RowWindow, snapshotOf, visitRows } from '../window/row-window.js';
import type { DroppedRows } from './dropped-rows.js';
import type { RollupCoverage, RollupReader } from './rollup-reader.js';
import { createFigures, type SummaryFigures } from './summary-figures.js';

/** Figures of a period, for charts and for the verdict on health. */
export interface LedgerSummary {
  /** ISO 8601; the period of the figures. */
  readonly since: string;
  readonly until: string;
  /**
   * Milliseconds: the period and its parts begin at multiples of it, because the rollups are no finer. 1 while all lines
   * of the period are in memory.
   */
  readonly resolutionMs: number;
  readonly total: SummaryFigures;
  /** Parts of the period of equal length, oldest first; empty ones included. The last one may be shorter. */
  readonly buckets: readonly (SummaryFigures & { readonly start: string })[];
  /** Parts of the period whose deliveries are not in the figures, oldest first. */
  readonly gaps: readonly { readonly since: string; readonly until: string }[];
  /** Why there are gaps, as far as something failed. */
  readonly faults: readonly string[];
  /** When the last callback was accepted, by name: of the lines in memory, the period, and seven days of rollups. */
  readonly last: {
    /** Empty for a client that may see some sources only: regions are not counted by source. */
    readonly byRegion: Readonly<Record<string, string>>;
    readonly bySource: Readonly<Record<string, string>>;
    /** By `<source>/<credential>`. */
    readonly byCredential: Readonly<Record<string, string>>;
  };
}

export interface SummaryRange extends TimeRange {
  /** Number of parts; there may be fewer, and with rollups one more. */
  readonly buckets: number;
  /** Only lines of these sources. */
  readonly scope: SourceScope;
}

export interface SummarySources {
  readonly window: RowWindow;
  readonly dropped: DroppedRows;
  readonly rollups: Pick<RollupReader, 'figures'>;
  /** The window holds everything written from then on. */
  completeSince(): number;
  /** Everything written from then on is in the window or was dropped from it. */
  seenSince(): number;
  readonly clock: () => number;
}

/** How far back rollups are searched for the last deliveries, in milliseconds. */
const LAST_WITHIN = 7 * DAY;
/** Above this length no bucket is shorter than an hour, so that the rollups of days suffice: they are 24 times fewer. */
const BY_HOUR_ABOVE = 8 * DAY;

/**
 * Each hour is counted from one source: from memory where this process has seen every line of it, otherwise from its
 * rollups. The hour that is in memory only in part comes from its rollup if it has one.
 */
export async function summarise(sources: SummarySources, asked: SummaryRange): Promise<LedgerSummary> {
  const { window, dropped, rollups, clock } = sources;
  const { scope } = asked;
  const now = clock();
  const range = alignRange(asked, sources.completeSince(), now);
  const { since, until, width, parts, resolution } = range;
  // The figures of rows that left the window are not kept by source: those hours come from their rollups.
  const seenSince = scope === null ? sources.seenSince : sources.completeSince;
  const seen = seenSince();
  const old = { since: floorTo(HOUR, since), until: Math.min(until, ceilTo(HOUR, seen)) };
  const recent = { since: floorTo(DAY, now - LAST_WITHIN), until: Math.min(now, ceilTo(HOUR, seen)) };
  const [coverage, lately] = await Promise.all([
    read(rollups, old, width, scope),
    read(rollups, recent, DAY, scope),
  ]);
  // Hours left memory meanwhile.
  if (seenSince() > seen || (resolution === 1 && sources.completeSince() > since))
    return summarise(sources, asked);

  const figures = Array.from({ length: parts }, createFigures);
  const bucketOf = (time: number) => figures[Math.min(parts - 1, Math.floor((time - since) / width))];
  const last = createLastAccepted();
  if (scope === null) last.addAll(dropped.last);
  for (const { last: known } of [...coverage.files, ...lately.files]) last.addAll(known);

  const border = floorTo(HOUR, seen);
  const held = border < seen && coverage.holds(border) ? border + HOUR : seen;
  for (const { slots } of coverage.files) {
    for (const { start, figures: packed } of slots) {
      if (start >= since && start < Math.min(until, held)) bucketOf(start)?.addPacked(packed);
    }
  }
  const inMemory = Math.max(since, held);
  // No await between the two: rows must not move from the window to the dropped ones.
  if (scope === null) {
    for (const { start, figures: sum } of dropped.slots(floorTo(SLOT, inMemory), until))
      bucketOf(start)?.addPacked(sum.packed());
  }
  await visitRows(snapshotOf(window), (row) => {
    if (!isInScope(scope, row.source)) return;
    last.add(row);
    if (row.written >= inMemory && row.written < until) bucketOf(row.written)?.add(row);
  });

  const total = createFigures();
  for (const figure of figures) total.addPacked(figure.packed());
  return {
    since: iso(since),
    until: iso(until),
    resolutionMs: resolution,
    total: total.result(),
    buckets: figures.map((figure, index) => ({ start: iso(since + index * width), ...figure.result() })),
    gaps: mergeRanges(coverage.gaps, { since, until: Math.min(until, held) }).map((gap) => ({
      since: iso(gap.since),
      until: iso(gap.until),
    })),
    faults: [...coverage.faults, ...unnamedSources(coverage, scope)].slice(0, MAX_FAULTS),
    last: {
      byRegion: scope === null ? instants(last.byRegion) : {},
      bySource: instants(last.bySource),
      byCredential: instants(last.byCredential),
    },
  };
}

/** A rollup tells a hundred sources apart. Lines of further ones are in no figures of single sources. */
function unnamedSources({ files }: RollupCoverage, scope: SourceScope): string[] {
  if (scope === null || !files.some(({ hasOtherSources }) => hasOtherSources)) return [];
  return ['some hours have lines of more sources than their rollup tells apart'];
}

const MAX_FAULTS = 10;

const MINUTE = 60_000;
/** Lengths of buckets that divide a day; longer ones are whole days. */
const WIDTHS = [1, 2, 3, 6, 12, 18, 24, 36, 48, 72].map((slots) => slots * SLOT);

/**
 * Widens the period to multiples of what the rollups can tell apart. A bucket never begins within a slot.
 *
 * @param complete from here on every line is in memory, so that any length can be counted
 */
function alignRange({ since, until, buckets }: SummaryRange, complete: number, now: number) {
  if (since >= complete) {
    // Whole milliseconds, as `start` says them.
    const width = Math.ceil((until - since) / buckets);
    return { since, until, width, parts: Math.ceil((until - since) / width), resolution: 1 };
  }
  const shortest = until - since > BY_HOUR_ABOVE ? HOUR : SLOT;
  // A period until now that began when the client asked is longer by the time since: the last bucket takes that.
  const slack = until > now ? MINUTE : 0;
  const wanted = Math.max(shortest, (until - since - slack) / buckets);
  const width = WIDTHS.find((each) => each >= wanted) ?? ceilTo(DAY, wanted);
  const resolution = Math.min(width, DAY);
  const begin = floorTo(resolution, since);
  const end = until > now ? until : Math.min(ceilTo(resolution, until), now + 1);
  return {
    since: begin,
    until: end,
    width,
    parts: Math.max(1, Math.ceil((end - begin - slack) / width)),
    resolution,
  };
}

const NOTHING: RollupCoverage = { files: [], holds: () => false, gaps: [], faults: [] };

async function read(
  rollups: SummarySources['rollups'],
  range: TimeRange,
  longest: number,
  scope: SourceScope,
): Promise<RollupCoverage> {
  return range.since < range.until ? rollups.figures(range, longest, scope) : NOTHING;
}

function instants(times: ReadonlyMap<string, number>): Record<string, string> {
  return Object.fromEntries([...times].map(([name, time]) => [name, iso(time)]));
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
