import pLimit from 'p-limit';
import { probeOfJob } from '../ledger/compact/job-blooms.js';
import { LedgerFileError } from '../ledger/compact/ledger-file-error.js';
import { listPartition } from '../ledger/ledger-reader.js';
import { readAhead } from '../ledger/read-ahead.js';
import type { ObjectStore } from '../store/object-store.js';
import type { RowSearch } from './delivery-query.js';
import { type CompactedFile, createCompactedFiles, mayHold } from './history/compacted-files.js';
import { hoursDescending, type LedgerHour } from './history/ledger-hours.js';
import { createOpenHours, type RecentLines } from './history/open-hours.js';
import { type DamagedParts, searchFiles, UnreadablePart } from './history/search-files.js';
import type { HourPage, HourSearch } from './history/take-rows.js';
import type { LedgerRow } from './ledger-row.js';
import { beforeInstant, comparePositions } from './row-position.js';
import type { SegmentLoader } from './segment-loader.js';

/** Hours of the ledger before the window, read from the store on demand. */
export interface LedgerHistory {
  /**
   * Rows not before the search's `since`, newest first. Ends early, with a position to go on from, at the deadline. Throws
   * `StoreError`; what was read until then is kept for the next search.
   */
  search(search: HourSearch): Promise<HistoryPage>;
  /** Whether the ledger has a folder of an hour before an instant. */
  hasBefore(time: number): Promise<boolean>;
}

export interface HistoryPage extends HourPage {
  /** Files that are damaged or missing, and why: lines may be missing. */
  readonly faults: readonly string[];
}

export interface LedgerHistoryOptions {
  readonly store: ObjectStore;
  readonly loader: SegmentLoader;
  readonly clock: () => number;
  readonly recent: RecentLines;
  /** Bytes of all indexes of old hours together. */
  readonly maxIndexBytes: number;
  /** Lines by which an index grows. */
  readonly indexChunk?: number | undefined;
}

interface DescribedHour {
  readonly hour: LedgerHour;
  /** All compacted files of the hour, and those of them that a search needs. */
  readonly files: readonly CompactedFile[];
  readonly wanted: readonly CompactedFile[];
  /** The files cover all segments up to this name; null when that is not certain. */
  readonly coveredTo: string | null;
  /** Rollups that are damaged or missing, and files that lack lines. */
  readonly faults: readonly string[];
}

const HOUR = 3_600_000;
/** Files whose bloom filters are read at once. */
const FILES_AT_ONCE = 16;
/** Hours that a search for rare lines looks at once. */
const HOURS_AHEAD = 8;

export function createLedgerHistory(options: LedgerHistoryOptions): LedgerHistory {
  const { store, loader, clock, recent, maxIndexBytes: maxBytes, indexChunk: chunk } = options;
  const openHours = createOpenHours({ store, loader, clock, recent, maxBytes, chunk });
  const compacted = createCompactedFiles(store);
  const limit = pLimit(FILES_AT_ONCE);

  /** Leaves files out whose bloom filters exclude the job. */
  async function describe(hour: LedgerHour, search: RowSearch): Promise<DescribedHour> {
    const { files, coveredTo, faults } = await compacted.of(hour);
    const { job } = search.filters;
    if (job === undefined) return { hour, files, wanted: files, coveredTo, faults };
    const may = files.map((file) => limit(async () => mayHold(file, search) && mayHoldJob(file, job)));
    const flags = await Promise.all(may);
    return { hour, files, wanted: files.filter((_file, index) => flags[index]), coveredTo, faults };
  }

  async function mayHoldJob(file: CompactedFile, job: string): Promise<boolean> {
    try {
      return (await (await compacted.open(file))?.rowGroupsOfJobs([probeOfJob(job)]))?.length !== 0;
    } catch (error) {
      if (error instanceof LedgerFileError) return true;
      throw error;
    }
  }

  /** Lines that no file covers: usually there are none, which takes one call. */
  async function searchSegments(
    hour: LedgerHour,
    after: string | null,
    search: HourSearch,
  ): Promise<HourPage> {
    if (after !== null && !(await hasSegmentAfter(store, hour, after))) return { rows: [], next: null };
    return openHours.search({ ...hour, after: after ?? undefined }, search);
  }

  /** What cannot be read is replaced by the segments that the hour still has. */
  async function searchCompacted(
    { hour, files, wanted, coveredTo, faults }: DescribedHour,
    search: HourSearch,
  ): Promise<HistoryPage> {
    const damaged: DamagedParts = { reasons: new Map(), unreadable: new Set() };
    for (;;) {
      const after = damaged.unreadable.size === 0 && files.length > 0 ? coveredTo : null;
      try {
        const pages = await Promise.all([
          searchFiles(compacted.open, wanted, search, damaged),
          searchSegments(hour, after, search),
        ]);
        return { ...mergePages(pages, search.wanted), faults: [...faults, ...damaged.reasons.values()] };
      } catch (error) {
        if (!(error instanceof UnreadablePart)) throw error;
      }
    }
  }

  return {
    async search({ search, from, wanted, deadline }) {
      const rows: LedgerRow[] = [];
      const faults = new Set<string>();
      let isFirst = true;
      const hours = readAhead(hoursDescending(store, from.time, search.since), aheadOf(search), (hour) =>
        describe(hour, search),
      );
      for await (const described of hours) {
        const { start } = described.hour;
        const end = beforeInstant(start + HOUR);
        const upper = comparePositions(from, end) < 0 ? from : end;
        if (comparePositions(upper, beforeInstant(start)) <= 0) continue;
        if (!isFirst && performance.now() >= deadline) return { rows, next: upper, faults: [...faults] };
        isFirst = false;
        const one = { search, from: upper, wanted: wanted - rows.length, deadline };
        const page = await searchCompacted(described, one);
        rows.push(...page.rows);
        for (const fault of page.faults) faults.add(fault);
        if (page.next !== null || rows.length >= wanted)
          return { rows, next: page.next, faults: [...faults] };
      }
      return { rows, next: null, faults: [...faults] };
    },
    async hasBefore(time) {
      for await (const _hour of hoursDescending(store, time - 1, Number.NEGATIVE_INFINITY)) return true;
      return false;
    },
  };
}

function aheadOf({ filters }: RowSearch): number {
  return Object.keys(filters).length > 0 ? HOURS_AHEAD : 1;
}

async function hasSegmentAfter(
  store: ObjectStore,
  { partition }: LedgerHour,
  name: string,
): Promise<boolean> {
  const startAfter = `${partition}${name}.ndjson`;
  for await (const _key of listPartition(store, partition, { startAfter })) return true;
  return false;
}

/** Of pages of the same part of the ledger: what all of them are complete for. */
function mergePages(pages: readonly HourPage[], wanted: number): HourPage {
  const ends = pages.flatMap(({ next }) => next ?? []);
  const bound = ends.sort(comparePositions).at(-1) ?? null;
  const rows = pages
    .flatMap((page) => page.rows)
    .sort((a, b) => comparePositions(b, a))
    .filter((row, index, all) => index === 0 || comparePositions(row, all[index - 1] as LedgerRow) !== 0)
    .filter((row) => bound === null || comparePositions(row, bound) >= 0)
    .slice(0, wanted);
  return { rows, next: rows.length === wanted ? null : bound };
}
